import Glibc

/// The mounted file systems with their mount points, by proc_pid_mountinfo(5).
struct MountTable: Sendable {
    struct Mount: Sendable, Hashable {
        var device: String
        /// The folder of the file system that is mounted.
        var root: [String]
        /// The path of the mount point.
        var point: [String]
    }

    /// The mounts by their IDs.
    private var mounts: [Int: Mount] = [:]

    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 4, let number = Int(fields[0]) else { continue }
            mounts[number] = Mount(
                device: String(fields[2]), root: WatchedPath.components(Self.unescaped(fields[3])),
                point: WatchedPath.components(Self.unescaped(fields[4])))
        }
    }

    /// Reads the table of this process. It blocks.
    static func read() -> MountTable { MountTable(text("/proc/self/mountinfo") ?? "") }

    subscript(number: Int) -> Mount? { mounts[number] }

    /// Returns the location of an open folder.
    ///
    /// - Parameter names: The components of the folder's path, as the kernel reports it.
    func location(ofDescriptor descriptor: Int32, _ names: [String]) -> FolderPlace.Location? {
        let lines = Self.text("/proc/self/fdinfo/\(descriptor)")?.split(separator: "\n") ?? []
        let number = lines.first { $0.hasPrefix("mnt_id:") }?.split { " \t".contains($0) }.last.flatMap { Int($0) }
        return number.flatMap { location(ofMount: $0, names) }
    }

    func location(ofMount number: Int, _ names: [String]) -> FolderPlace.Location? {
        guard let mount = mounts[number], names.count >= mount.point.count,
            zip(names, mount.point).allSatisfy({ $0.utf8.elementsEqual($1.utf8) })
        else { return nil }
        return FolderPlace.Location(device: mount.device, names: mount.root + names[mount.point.count...])
    }

    /// Decodes a field, in which blanks, tabs, line ends and backslashes are a backslash and three octal digits.
    private static func unescaped(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "\\")) else { return String(text) }
        var result: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let value = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                result.append(value)
                rest = rest.dropFirst(3)
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func text(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? nil : String(decoding: bytes, as: UTF8.self) }
            bytes += piece[..<count]
        }
    }
}
