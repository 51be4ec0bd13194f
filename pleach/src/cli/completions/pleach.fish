# Completes the command lines of pleach in fish: pleach completions fish | source
function __pleach_words
    set -l typed (commandline --current-process --tokens-expanded --cut-at-cursor 2>/dev/null; or commandline -opc)
    set -l current (commandline -ct)
    $typed[1] completions words -- $typed[2..-1] $current 2>/dev/null
end
function __pleach_named
    __pleach_words | string match -rv '^\t'
end
complete -c pleach -f -a '(__pleach_named)'
complete -c pleach -n '__pleach_words | string match -rq "^\t"' -F
