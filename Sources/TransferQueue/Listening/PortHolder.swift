import CTransferLinux
import Glibc
import TransferJobs

/// The process that listens on a port of this machine, to the extent that /proc shows it to this user.
enum PortHolder {
    /// Finds the process.
    ///
    /// - Returns: The name and ID of the process; `nil` where none is found.
    static func words(_ port: Int) -> String? {
        let inodes = Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap { listeners($0, port) })
        guard !inodes.isEmpty, let processes = opendir("/proc") else { return nil }
        defer { closedir(processes) }
        while let entry = readdir(processes) {
            let name = name(of: entry)
            guard let pid = Int32(name), holds(pid, inodes) else { continue }
            let command = SecretSource.text(of: "/proc/\(pid)/comm")?.split(separator: "\n").first.map(String.init)
            return "\(command ?? "a process") (process \(pid))"
        }
        return nil
    }

    /// Returns the inodes of the sockets that listen on the port (proc_pid_net(5)).
    private static func listeners(_ path: String, _ port: Int) -> [String] {
        let wanted =
            ":" + String(repeating: "0", count: max(0, 4 - String(port, radix: 16).count))
            + String(port, radix: 16, uppercase: true)
        return (SecretSource.text(of: path) ?? "").split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[1].hasSuffix(wanted), fields[3] == "0A" else { return nil }
            return "socket:[\(fields[9])]"
        }
    }

    private static func holds(_ pid: Int32, _ sockets: Set<String>) -> Bool {
        let folder = "/proc/\(pid)/fd"
        guard let files = opendir(folder) else { return false }
        defer { closedir(files) }
        while let entry = readdir(files) {
            var target = [UInt8](repeating: 0, count: 64)
            let count = readlink("\(folder)/\(name(of: entry))", &target, target.count)
            if count > 0, sockets.contains(String(decoding: target.prefix(count), as: UTF8.self)) { return true }
        }
        return false
    }

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
        withUnsafePointer(to: &entry.pointee.d_name) { pointer in
            pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
    }
}
