/** Programs that run another program that they are given, here or elsewhere, at once or later. */
export const WRAPPING_PROGRAMS: readonly string[] = `
  sudo sudoedit doas su sg newgrp runuser pkexec gosu su-exec setpriv capsh env envdir dotenv dotenvx direnv direnv-exec xargs parallel sem
  timeout gtimeout nohup nice ionice chrt taskset cpulimit prlimit choom numactl schedtool uclampset cgexec time gtime multitime hyperfine
  stdbuf unbuffer setsid script watch watchexec entr fswatch inotifywait chronic ifne mispipe lckdo retry eatmydata catchsegv
  strace ltrace valgrind perf rr bear scan-build chroot unshare nsenter bwrap firejail nsjail runcon aa-exec sandbox-exec fakeroot fakechroot
  proot systemd-run systemd-nspawn systemd-inhibit start-stop-daemon daemonize tini dumb-init chpst softlimit setuidgid envuidgid
  s6-setuidgid dbus-run-session dbus-launch xvfb-run flock run-parts faketime setarch arch linux32 linux64 caffeinate torsocks torify
  proxychains wine ssh sshpass ssh-agent mosh rsh telnet nc ncat netcat socat screen tmux zellij byobu at batch crontab anacron
  exec eval command builtin coproc cross-env concurrently npm-run-all run-p run-s nodemon pm2 forever foreman overmind hivemind honcho
  aws-vault doppler chamber vault infisical teller op qemu-x86_64 qemu-aarch64 qemu-arm watchman xdg-open open start busybox toybox`
  .trim()
  .split(/\s+/)
