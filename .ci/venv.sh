# Sourced by run-example, check and .ci/run: an isolated environment in .venv, made when it is missing.
# Needs Python 3.10 or newer with pip; a Python without ensurepip (Debian without python3-venv) will do.
# What is installed is what constraints.txt locks, so that a clone is the same tomorrow; NPULINT_NEWEST=1 asks for the newest.

find_python() {
    local candidate
    for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11 python3.10 python; do
        if [ -n "$candidate" ] && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "npulint needs Python 3.10 or newer; set PYTHON to one" >&2
    return 1
}

# make_environment DIRECTORY REQUIREMENT: REQUIREMENT is what pip installs editably, "." or ".[dev]".
make_environment() {
    local directory=$1 requirement=$2 python stamp versions=locked
    if [ -n "${NPULINT_NEWEST:-}" ]; then
        versions=newest
    else  # the second is for what builds the package, as pip 25.3 and newer read it
        local -x PIP_CONSTRAINT="$PWD/constraints.txt" PIP_BUILD_CONSTRAINT="$PWD/constraints.txt"
    fi
    stamp="$directory/.installed-$versions-$(cat pyproject.toml constraints.txt | cksum | tr -d ' ')"
    stamp="$stamp-$(printf %s "$requirement" | tr -dc 'a-z')"
    [ -e "$stamp" ] && return
    python=$(find_python) || return 1
    if [ ! -x "$directory/bin/python" ]; then
        echo "making $directory with $("$python" --version)" >&2
        "$python" -m venv "$directory" 2>/dev/null || "$python" -m venv --clear --without-pip "$directory" || return 1
    fi
    if "$directory/bin/python" -m pip --version >/dev/null 2>&1; then
        "$directory/bin/python" -m pip install --quiet --disable-pip-version-check --editable "$requirement" || return 1
    else
        "$python" -m pip --quiet --disable-pip-version-check --python "$directory/bin/python" \
            install --editable "$requirement" || return 1
    fi
    touch "$stamp"
}
