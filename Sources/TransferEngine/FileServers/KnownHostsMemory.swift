import CTransferLinux
import Glibc
import TransferCore

/// The keys of the servers that a pool connects to. Changed files are read again.
///
/// The cache is used on its loop's thread only.
final class KnownHostsMemory {
    private struct Place: Hashable {
        let files: [String]
        let host: String
        let port: Int
    }

    private struct Entry {
        /// The stamps of the files; `nil` for a missing file.
        let stamps: [FileStamp?]
        let keys: ServerKeys
    }

    private var entries: [Place: Entry] = [:]
    /// The capacity, above which all entries are forgotten: a run with so many servers meets each of them rarely.
    private static let capacity = 256
    /// The longest file in bytes; 64 MiB have half a million keys.
    private static let longest: Int64 = 64 << 20

    /// Returns the keys of a server.
    ///
    /// - Throws: An error for an existing file that cannot be read, as it may revoke a key.
    func keys(of origin: Origin, in files: [String]) throws(TransferError) -> ServerKeys {
        let place = Place(files: files, host: origin.host, port: origin.port)
        var stamps: [FileStamp?] = []
        for file in files { stamps.append(try Self.stamp(file)) }
        if let entry = entries[place], entry.stamps == stamps { return entry.keys }
        var known = KnownHosts()
        for (file, stamp) in zip(files, stamps) where stamp != nil { known.add(try Self.read(file)) }
        let keys = known.keys(host: origin.host, port: origin.port)
        if entries.count >= Self.capacity { entries = [:] }
        entries[place] = Entry(stamps: stamps, keys: keys)
        return keys
    }

    private static func stamp(_ path: String) throws(TransferError) -> FileStamp? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw fault(path, errno) }
            return nil
        }
        // A pipe could block the loop, and would be empty when it is read again.
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFCHR: return nil
        case S_IFDIR: throw fault(path, EISDIR)
        default:
            throw TransferError(
                .fileAccess, "cannot read known hosts from \(path): it is a pipe or a socket; write them to a file")
        }
        guard status.st_size <= longest else { throw fault(path, EFBIG) }
        return FileStamp(status)
    }

    private static func read(_ path: String) throws(TransferError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw fault(path, errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= longest {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 || errno == EINTR else { throw fault(path, errno) }
            guard count != 0 else { break }
            if count > 0 { bytes += buffer.prefix(count) }
        }
        return bytes
    }

    private static func fault(_ path: String, _ number: Int32) -> TransferError {
        .file("read known hosts from", path, number)
    }
}

/// A small file without a name, for libraries that only read files. It ends with its last reference.
final class MemoryFile {
    private let descriptor: Int32

    /// Creates a file with this text.
    ///
    /// - Returns: `nil` where the system has no descriptor left.
    init?(_ text: String) {
        let descriptor = transfer_memory_file("known_hosts")
        guard descriptor >= 0 else { return nil }
        let bytes = Array(text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    var path: String { "/proc/self/fd/\(descriptor)" }
}
