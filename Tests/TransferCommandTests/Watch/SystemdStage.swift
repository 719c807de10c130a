import Foundation
import Glibc
import TransferTestSupport

/// A private systemd: process 1 of new namespaces, on a copy of this machine's files that is deleted with it. The
/// network is this machine's, so that servers of the tests can be reached.
final class SystemdStage: Sendable {
    /// Whether a stage can be made: it needs root, systemd itself, and a kernel with overlay file systems.
    static var isPossible: Bool {
        let systems = (try? String(contentsOfFile: "/proc/filesystems", encoding: .utf8)) ?? ""
        return geteuid() == 0 && access(systemd, X_OK) == 0 && access("/usr/bin/unshare", X_OK) == 0
            && systems.contains("overlay\n")
    }

    private static let systemd = "/lib/systemd/systemd"
    private let process: ChildProcess
    private let manager: Int32

    /// Starts a stage, passes it to `body`, and takes it down.
    static func with(_ body: (SystemdStage) async throws -> Void) async throws {
        let folder = try TemporaryFolder("systemd")
        try folder.write(boot, to: "boot")
        let path = "/usr/sbin:/usr/bin:/sbin:/bin"
        let process = try ChildProcess.start(
            ChildProcess.Command(
                "/bin/bash", ["-c", start, "bash", folder.path("boot"), try folder.folder("stage"), systemd],
                environment: ["PATH": path, "container": "test"], timeout: .seconds(170)))
        func end() async throws {
            process.kill(SIGKILL)
            _ = try await process.result()
            // A group can be removed when the last of its processes is gone; groups that are left after ten seconds
            // stay.
            let clean = """
                shopt -s nullglob
                for _ in {1..100}; do
                    groups=(/sys/fs/cgroup/{,*/}transfer-stage-\(process.processID))
                    [ ${#groups[@]} = 0 ] && exit
                    find "${groups[@]}" -depth -type d -exec rmdir {} + 2> /dev/null
                    read -r -t 0.1 _ <> <(:)
                done
                """
            _ = try await ChildProcess.start(.init("/bin/bash", ["-c", clean], environment: ["PATH": path])).result()
        }
        do {
            try await body(SystemdStage(process))
        } catch {
            try await end()
            throw error
        }
        try await end()
    }

    /// - Throws: An error when the system is not up within half a minute.
    private init(_ process: ChildProcess) async throws {
        self.process = process
        let unshare = process.processID
        var child: Int32?
        try await until("systemd to begin", within: .seconds(10)) {
            let children = try? String(contentsOfFile: "/proc/\(unshare)/task/\(unshare)/children", encoding: .utf8)
            child = children.flatMap { Int32($0.trimmingCharacters(in: .whitespaces)) }
            let name = child.flatMap { try? String(contentsOfFile: "/proc/\($0)/comm", encoding: .utf8) }
            return name == "systemd\n"
        }
        manager = child ?? 0
        try await until("systemd to be up", within: .seconds(30)) {
            try await shell("systemctl is-active stage.target").standardOutput == "active\n"
        }
    }

    /// Runs a script among the stage's processes.
    func shell(_ script: String) async throws -> ProcessResult {
        try await ChildProcess.start(
            ChildProcess.Command(
                "/usr/bin/nsenter", ["--target", "\(manager)", "--all", "/bin/bash", "-c", script],
                environment: ["PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"], timeout: .seconds(60))
        ).result()
    }

    /// Returns the value of a unit's property.
    func property(_ name: String, of unit: String) async throws -> String {
        try await shell("systemctl show --value --property \(name) '\(unit)'").standardOutput
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A script that starts the stage in control groups of its own, which the namespace then shows as the machine's.
    private static let start = #"""
        for root in /sys/fs/cgroup /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
            [ -e "$root/cgroup.procs" ] || continue
            mkdir "$root/transfer-stage-$$"
            echo $$ > "$root/transfer-stage-$$/cgroup.procs"
        done
        exec unshare --mount --pid --fork --uts --ipc --cgroup --kill-child --propagation private \
            /bin/bash "$@"
        """#

    /// A script that runs in the new namespaces, with a folder for the stage and systemd's path. It masks units of the
    /// machine that would touch objects outside the stage (devices, clocks, sysctls).
    private static let boot = #"""
        set -eu
        stage=$1 systemd=$2
        mount -t tmpfs tmpfs "$stage"
        mkdir "$stage/upper" "$stage/work" "$stage/root"
        mount -t overlay overlay -o "lowerdir=/,upperdir=$stage/upper,workdir=$stage/work" "$stage/root"
        cd "$stage/root"
        mount -t proc proc proc
        mount --rbind /sys sys
        if [ -e sys/fs/cgroup/cgroup.procs ]; then
            mount -t cgroup2 cgroup2 sys/fs/cgroup
        else
            mount -t tmpfs tmpfs sys/fs/cgroup
            mkdir sys/fs/cgroup/systemd sys/fs/cgroup/unified
            mount -t cgroup -o none,name=systemd,xattr cgroup sys/fs/cgroup/systemd
            mount -t cgroup2 cgroup2 sys/fs/cgroup/unified
        fi
        for folder in run tmp; do mount -t tmpfs tmpfs "$folder"; done
        mount -t tmpfs -o mode=755 tmpfs dev
        for node in null zero full random urandom tty; do
            touch "dev/$node"
            mount --bind "/dev/$node" "dev/$node"
        done
        mkdir dev/pts dev/shm
        mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
        ln -s pts/ptmx dev/ptmx
        rm -rf etc/systemd/system/*.wants
        echo 0123456789abcdef0123456789abcdef > etc/machine-id
        mkdir -p etc/systemd/system
        cat > etc/systemd/system/stage.target <<UNIT
        [Unit]
        Requires=basic.target systemd-journald.service
        After=basic.target systemd-journald.service
        UNIT
        for unit in systemd-{udevd,udev-trigger,tmpfiles-setup-dev,tmpfiles-setup,sysctl,modules-load,remount-fs}.service \
            systemd-{binfmt,random-seed,journal-flush,update-utmp,timesyncd,sysusers}.service \
            systemd-udevd-{control,kernel}.socket systemd-tmpfiles-clean.timer local-fs.target \
            {dev-hugepages,dev-mqueue,sys-kernel-debug,sys-kernel-tracing}.mount proc-sys-fs-binfmt_misc.automount; do
            ln -sf /dev/null "etc/systemd/system/$unit"
        done
        mkdir -p mnt/machine
        pivot_root . mnt/machine
        cd /
        umount -l /mnt/machine
        exec "$systemd" --system --unit=stage.target
        """#
}
