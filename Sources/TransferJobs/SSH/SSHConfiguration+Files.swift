import CTransferLinux
import Glibc
import TransferCore
import TransferEngine

extension SSHConfiguration {
    /// The administrator's file for all users.
    private static let system = File("/etc/ssh/ssh_config", includes: "/etc/ssh")

    /// Returns the configuration that ssh would use; `nil` where the program has no home folder.
    ///
    /// - Parameter path: The path of the only file to read, in place of the user's and the administrator's.
    package init?(_ secrets: SecretSource, file path: String?) {
        guard let home = secrets.variable("HOME"), !home.isEmpty else { return nil }
        let folder = home + "/.ssh"
        self.init(
            path.map { [File($0, includes: folder)] } ?? [File(folder + "/config", includes: folder), Self.system],
            home: home, localUser: UserEntry.own, variable: { secrets.variable($0) },
            read: { (file) throws(TransferError) in try Self.bytes(of: file, mayBeMissing: file != path) },
            matches: Self.paths)
    }

    /// Reads a file.
    ///
    /// - Throws: An error for a file of a user that others may change, which ssh refuses too.
    private static func bytes(of path: String, mayBeMissing: Bool) throws(TransferError) -> [UInt8]? {
        // `O_NONBLOCK`: opening a pipe must not wait for a writer.
        let descriptor = transfer_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
        guard descriptor >= 0 else {
            // As ssh, which passes over a standard file that it cannot open.
            if mayBeMissing, [ENOENT, ENOTDIR, EACCES].contains(errno) { return nil }
            throw .file("read", path, errno)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .file("read", path, errno) }
        // The administrator's files are trusted, as by ssh.
        if status.st_mode & S_IFMT == S_IFREG, !path.hasPrefix("/etc/ssh/") {
            guard status.st_uid == 0 || status.st_uid == geteuid(), status.st_mode & S_IWOTH == 0 else {
                throw TransferError(
                    .invalidRequest, "\(path): others may change the file; run chmod go-w, or chown to its user")
            }
        }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            guard count >= 0 else { throw .file("read", path, errno) }
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
            guard bytes.count <= Self.longest else {
                throw TransferError(.invalidRequest, "\(path): the file is longer than 1 MiB")
            }
        }
    }

    /// The length of the longest file, in bytes.
    private static let longest = 1 << 20

    /// Returns the paths that match a pattern (glob(7)).
    @Sendable private static func paths(_ pattern: String) -> [String] {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(pattern, 0, nil, &found) == 0 else { return [] }
        return (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(cString: $0) } }
    }
}

extension UserEntry {
    /// The name of the user that runs the program, or the number of a user without a name.
    static let own: String = UserEntry(geteuid())?.name ?? "\(geteuid())"
}
