# Bash splits words at "=". Here they are put together again, and what the reader of COMPREPLY puts before the answer
# anyway is taken off it in the end.
_npulint() {
    local -a line
    local index part value verb option lead=
    line=()
    for ((index = 1; index <= COMP_CWORD; index++)); do
        part=${COMP_WORDS[index]}
        if [[ ${#line[@]} -gt 0 && ($part == "=" || ${COMP_WORDS[index - 1]} == "=") ]]; then
            line[${#line[@]} - 1]=${line[${#line[@]} - 1]}$part
        else
            line[${#line[@]}]=$part
        fi
    done
    local current=${line[${#line[@]} - 1]} previous=
    [[ ${#line[@]} -gt 1 ]] && previous=${line[${#line[@]} - 2]}
    COMPREPLY=()
    if [[ ${#line[@]} -le 1 ]]; then
        _npulint_choose "$current" "" "$_npulint_verbs"
        return
    fi
    verb=${line[0]}
    value=$(_npulint_value "$verb" "$previous")
    for ((index = 1; index < ${#line[@]} - 1; index++)); do
        [[ ${line[index]} == "--" ]] && value= && previous="--"
    done
    if [[ $previous != "--" && -n $value ]]; then
        :
    elif [[ $previous != "--" && $current == --*=* ]]; then
        value=$(_npulint_value "$verb" "${current%%=*}")
        lead=${current%%=*}=
    elif [[ $previous != "--" && $current == -* ]]; then
        value="words $(_npulint_flags "$verb")"
    else
        value=$(_npulint_value "$verb" "")
    fi
    local kind=${value%% *} words=${value#* } rest=${current#"$lead"}
    case $kind in
        words) _npulint_choose "$rest" "$lead" "$words" ;;
        check) _npulint_choose "$rest" "$lead" "$_npulint_checks" ;;
        list | checks)
            [[ $kind == checks ]] && words=$_npulint_checks
            [[ $rest == *,* ]] && lead=$lead${rest%,*},
            _npulint_choose "${rest##*,}" "$lead" "$words"
            ;;
        keys | reports)
            if [[ $rest != *=* ]]; then
                _npulint_choose "$rest" "$lead" "${words// /= }="
                _npulint_option nospace
            elif [[ $kind == reports ]]; then
                _npulint_files -f "${rest#*=}" "$lead${rest%%=*}="
            fi
            ;;
        file) _npulint_files -f "$rest" "$lead" ;;
        folder) _npulint_files -d "$rest" "$lead" ;;
    esac
    if [[ $COMP_WORDBREAKS == *=* && $current == *=* ]]; then
        part=${current%"${current##*=}"}
        for ((index = 0; index < ${#COMPREPLY[@]}; index++)); do
            COMPREPLY[index]=${COMPREPLY[index]#"$part"}
        done
    fi
}

_npulint_choose() {
    local word
    for word in $3; do
        [[ $word == "$1"* ]] && COMPREPLY[${#COMPREPLY[@]}]=$2$word
    done
}

_npulint_files() {
    local name
    while IFS= read -r name; do
        COMPREPLY[${#COMPREPLY[@]}]=$3$name
    done < <(compgen "$1" -- "$2")
    _npulint_option filenames
}

_npulint_option() {
    type compopt &>/dev/null && compopt -o "$1" 2>/dev/null
}

complete -F _npulint npulint
