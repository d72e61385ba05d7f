_npulint_name() { compadd "$@" -a _npulint_checks }
_npulint_names() { _sequence -s , _npulint_name }
_npulint_some() { _sequence -s , compadd - "$@" }
_npulint_keys() { compset -P 1 '*=' || compadd -S = "$@" }
_npulint_reports() { if compset -P 1 '*='; then _files; else compadd -S = "$@"; fi }

if [[ $funcstack[1] == _npulint ]]; then
    _npulint "$@"
else
    compdef _npulint npulint
fi
