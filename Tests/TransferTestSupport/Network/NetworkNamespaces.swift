internal import Foundation
internal import Glibc
internal import Synchronization

/// Network namespaces of the tests: the check whether they can be made, their names, and the removal of leftovers from
/// a killed run.
///
///     @Suite(.enabled(if: NetworkNamespaces.areWanted))
public enum NetworkNamespaces {
    /// Whether the suites with namespaces run: if namespaces can be made, or are required (`TRANSFER_PEERS=required`,
    /// which `make check` sets). If required, the suites fail without them.
    public static let areWanted: Bool = {
        if areAllowed || areRequired { return true }
        let line =
            "SKIPPED: the suites on the real kernel, as network namespaces need root and iproute2 (`make setup`)\n"
        FileHandle.standardError.write(Data(line.utf8))
        return false
    }()

    /// Whether suites without their namespace fail instead of being skipped.
    public static var areRequired: Bool { ProcessInfo.processInfo.environment["TRANSFER_PEERS"] == "required" }

    /// Whether this process can make a namespace, which needs root, the `ip` command and a kernel that permits it.
    public static let areAllowed: Bool = {
        guard geteuid() == 0, (try? ip()) != nil else { return false }
        let name = newName("try")
        return succeeds("ip netns add \(name) && ip netns del \(name)")
    }()

    /// The result of the sweep, which runs once per process before its first namespace.
    static let swept: Bool = sweep()

    /// Removes the namespaces whose processes, by the ID in their names, have ended.
    @discardableResult
    public static func sweep() -> Bool {
        succeeds(
            """
            for path in /run/netns/\(prefix)*; do
                name=${path##*/}; process=${name#\(prefix)}; process=${process%%-*}
                [ -e "$path" ] && [ ! -d "/proc/$process" ] || continue
                ip netns del "$name"; rm -rf "/etc/netns/$name"
            done
            """)
    }

    private static let prefix = "transfer-"
    private static let count = Mutex(0)

    /// Returns a name in the form `transfer-PID-NUMBER-ROLE`.
    static func newName(_ role: String) -> String {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return "\(prefix)\(getpid())-\(number)-\(role)"
    }

    /// Returns the path of the `ip` command.
    static func ip() throws -> String {
        for folder in ["/usr/sbin", "/sbin", "/usr/bin", "/bin"] {
            let path = folder + "/ip"
            if FileManager.default.isExecutableFile(atPath: path) { return path }
        }
        throw TestSupportError("the ip command is not installed; `make setup` installs it (Debian's iproute2)")
    }

    public static let searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

    private static func succeeds(_ script: String) -> Bool {
        let process = try? SpawnedChild.spawn(
            "/bin/sh", ["-c", script], environment: ["PATH": searchPath], workingFolder: "/", input: nil, output: nil,
            error: nil)
        guard let process else { return false }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status == 0
    }
}
