# What the guests have in common: Debian's kernel, an initramfs, a small Java. Sourced, not run.

guest_kernel_package() {
  { apt-cache depends linux-image-amd64 2>/dev/null || true; } |
    awk '$1 == "Depends:" && $2 ~ /^linux-image-[0-9]/ && !name { name = $2 } END { print name }'
}

# The kernel of linux-image-amd64, unpacked and not installed. Prints where.
guest_kernel() {
  local cache=$1 package
  mkdir -p "$cache"
  if [[ ! -e $cache/kernel/boot ]]; then
    package=$(guest_kernel_package)
    if [[ -z $package ]]; then
      apt-get update --quiet=2 >&2
      package=$(guest_kernel_package)
    fi
    [[ -n $package ]] || { echo 'apt knows no linux-image-amd64' >&2; return 1; }
    (cd "$cache" && apt-get download -qq "$package" >&2)
    rm -rf "$cache/unpacked"
    dpkg -x "$cache/$package"_*.deb "$cache/unpacked"
    rm -f "$cache/$package"_*.deb
    mv "$cache/unpacked" "$cache/kernel"
  fi
  echo "$cache/kernel"
}

# A Java runtime of the modules named, made once.
guest_java() {
  local cache=$1 jdk=$2 modules=$3
  if [[ ! -x $cache/java/bin/java ]]; then
    rm -rf "$cache/java"
    "$jdk/bin/jlink" --add-modules "$modules" --output "$cache/java" \
      --strip-debug --no-header-files --no-man-pages --generate-cds-archive >&2
  fi
  echo "$cache/java"
}

# The libraries of a program, into a root.
guest_libraries() {
  local root=$1 library
  shift
  { ldd "$@" 2>/dev/null || true; } | awk '/=> \// { print $3 } /^\t\// { print $1 }' | sort -u |
    while read -r library; do
      [[ -e $root$library ]] || install -D -m 755 "$(readlink -f "$library")" "$root$library"
    done
}

# Programs and other files, at the places they have here, with their libraries, into a root.
guest_programs() {
  local root=$1 file
  shift
  for file in "$@"; do
    install -D -m 755 "$(readlink -f "$file")" "$root$file"
    guest_libraries "$root" "$file"
  done
}

# A root of busybox, kernel modules with what they need, and an init.
guest_root() {
  local root=$1 kernel=$2 init=$3 version module file
  shift 3
  version=$(ls "$kernel/lib/modules")
  mkdir -p "$root"/{bin,dev,etc,host,lib,lib64,proc,root,run,sys,tmp,usr/bin,usr/lib,usr/sbin}
  cp "$(command -v busybox)" "$root/bin/busybox"
  ln -s busybox "$root/bin/sh"
  install -m 755 "$init" "$root/init"
  mkdir -p "$root/lib/modules/$version"
  cp "$kernel/lib/modules/$version"/modules.{order,builtin,builtin.modinfo} "$root/lib/modules/$version/"
  [[ -e $kernel/lib/modules/$version/modules.dep ]] || depmod -b "$kernel" "$version"
  for module in "$@"; do
    modprobe -d "$kernel" -S "$version" --show-depends "$module" |
      awk '$1 == "insmod" { print $2 }' |
      while read -r file; do
        install -D -m 644 "$file" "$root/lib/modules/$version/${file#*"/lib/modules/$version/"}"
      done
  done
  depmod -b "$root" "$version"
}

# Packs a root.
guest_pack() {
  (cd "$1" && find . -print0 | LC_ALL=C sort -z | cpio --null --create --format=newc --owner 0:0 --quiet) >"$2"
}

# The home of a JDK of 25 or newer.
guest_jdk() {
  local home major
  for home in "${IRDMA_JAVA_HOME:-}" "${JAVA_HOME:-}" /usr/lib/jvm/*; do
    if [[ -x $home/bin/jlink && -r $home/release ]]; then
      major=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$home/release")
      if ((major >= 25)); then
        echo "$home"
        return
      fi
    fi
  done
  echo 'no JDK of 25 or newer with jlink' >&2
  return 1
}
