#compdef pleach
# Completes the command lines of pleach in zsh: source <(pleach completions zsh)
_pleach() {
    local -a described plain
    local word about files=
    local reply_text
    reply_text=$("${words[1]}" completions words -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    while IFS=$'\t' read -r word about; do
        if [[ -z $word ]]; then
            files=yes
        elif [[ -n $about ]]; then
            described+=("${word//:/\\:}:$about")
        else
            plain+=("$word")
        fi
    done <<<"$reply_text"
    (( ${#described} )) && _describe -V 'pleach' described
    (( ${#plain} )) && compadd -- "${plain[@]}"
    [[ -n $files ]] && _files
    return 0
}
if [[ ${funcstack[1]} == _pleach ]]; then
    _pleach "$@"
else
    compdef _pleach pleach
fi
