# Completes the command lines of pleach in bash: source <(pleach completions bash)
_pleach() {
    local current=${COMP_WORDS[COMP_CWORD]} before=() word about files=
    local line=${COMP_LINE:0:COMP_POINT}
    COMPREPLY=()
    # Bash splits words at '=' and ':'; the words between blanks are meant here.
    read -ra before <<<"$line"
    [[ $line == *[[:space:]] ]] && before+=("")
    current=${before[-1]}
    while IFS=$'\t' read -r word about; do
        if [[ -z $word ]]; then
            files=yes
        else
            COMPREPLY+=("$word")
        fi
    done < <("${before[0]}" completions words -- "${before[@]:1}" 2>/dev/null)
    # What precedes '=' or ':' in the word is already there for bash.
    local stays=${current%"${COMP_WORDS[COMP_CWORD]}"}
    if [[ ${COMP_WORDS[COMP_CWORD]} == [=:] ]]; then
        stays=$current
    fi
    if [[ -n $files ]]; then
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do
            COMPREPLY+=("$word")
        done < <(compgen -f -- "${current#"$stays"}")
    fi
    local i
    for i in "${!COMPREPLY[@]}"; do
        COMPREPLY[i]=${COMPREPLY[i]#"$stays"}
    done
}
complete -F _pleach pleach
