internal import Foundation
internal import Glibc
internal import Synchronization

/// The clean-up of children that a crashed or killed test process leaves behind. A shell holds their list, and kills
/// the rest when the pipe from the test process closes.
final class OrphanGuard: Sendable {
    static let shared = OrphanGuard()

    private static let script = """
        trap '' INT TERM HUP
        pids=' '
        while read -r what pid; do
            case $what in
            +) pids="$pids$pid " ;;
            -) pids="${pids%% $pid *} ${pids#* $pid }" ;;
            esac
        done
        [ -z "${pids# }" ] || kill -TERM $pids 2>/dev/null
        """

    /// The writing end of the pipe; -1 if the shell could not be started, and then no child is guarded.
    private let descriptor: Mutex<Int32>

    private init() {
        var ends: [Int32] = [-1, -1]
        guard GNUCalls.pipe2(&ends, O_CLOEXEC) == 0 else {
            descriptor = Mutex(-1)
            return
        }
        let spawned = try? SpawnedChild.spawn(
            "/bin/sh", ["-c", Self.script], environment: [:], workingFolder: "/", input: ends[0], output: nil,
            error: nil)
        close(ends[0])
        if spawned == nil { close(ends[1]) }
        descriptor = Mutex(spawned == nil ? -1 : ends[1])
    }

    func add(_ pid: pid_t) { tell("+ \(pid)\n") }
    func remove(_ pid: pid_t) { tell("- \(pid)\n") }

    private func tell(_ line: String) {
        descriptor.withLock { descriptor in
            guard descriptor >= 0 else { return }
            var line = line
            _ = line.withUTF8 { write(descriptor, $0.baseAddress, $0.count) }
        }
    }
}
