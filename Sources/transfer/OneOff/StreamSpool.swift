import FoundationEssentials
import Glibc
import TransferCore
import TransferCrypto
import TransferQueue

/// A file in place of standard input or output.
///
/// Input from a stream cannot be sent again, and written output cannot be taken back. So standard input is read to its
/// end before its first byte is sent. Standard output gets a file when it is whole and verified.
///
/// The spool is in the folder of the queue's state. Its name is derived from the URL and the working folder, so that
/// the same command continues with it. One process at a time uses it.
final class StreamSpool: Sendable {
    enum Direction: String { case input, output }

    let path: String
    /// The pipe, device or descriptor that gets the whole file; `nil` for standard output.
    private let target: String?
    private let folder: String
    /// The descriptor of the lock file, locked until the process ends, so that no other process uses the spool.
    private let lock: Int32

    /// Opens a spool.
    ///
    /// - Parameters:
    ///   - url: The URL to which the stream goes, or from which it comes.
    ///   - target: The pipe, device or descriptor that gets the whole file; `nil` for standard output.
    /// - Throws: `Failure` when another process uses the spool, or the folder cannot be used.
    init(_ direction: Direction, of url: String, state: String?, to target: String? = nil) throws {
        self.target = target
        folder = try StateFolder(try Composition.statePath(state)).path + "/streams"
        let digest = try Digest(.sha256)
        let key = "\(url)\n\(FileManager.default.currentDirectoryPath)"
        Array(key.utf8).withUnsafeBytes { digest.update($0) }
        path = try "\(folder)/\(direction.rawValue)-\(digest.finish().hex.prefix(16))"
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw Self.failure("cannot make \(folder)") }
        lock = try Self.locked(path, direction)
    }

    /// Takes the spool's lock.
    ///
    /// A process that removed the spool has removed the lock file too. Therefore the locked file must still be the one
    /// with that name.
    private static func locked(_ path: String, _ direction: Direction) throws(Failure) -> Int32 {
        while true {
            let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard lock >= 0 else { throw failure("cannot write \(path).lock") }
            guard flock(lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
                close(lock)
                throw Failure(.workLeft, "another process moves standard \(direction.rawValue) of this URL")
            }
            var (own, named) = (stat(), stat())
            if fstat(lock, &own) == 0, stat(path + ".lock", &named) == 0, own.st_ino == named.st_ino { return lock }
            close(lock)
        }
    }

    deinit { if lock >= 0 { close(lock) } }

    /// Whether a path names a pipe, whose bytes come once.
    static func isPipe(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    /// Reads all of standard input, or of a named pipe.
    ///
    /// - Throws: `Failure` when it cannot be read or stored; the earlier content then stays.
    func fill(fromPipe pipe: String? = nil) throws(Failure) {
        let source = pipe.map { open($0, O_RDONLY | O_CLOEXEC) } ?? STDIN_FILENO
        guard source >= 0 else { throw Self.failure("cannot read \(pipe ?? "")") }
        defer { if pipe != nil { close(source) } }
        let new = path + ".new"
        let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failure("cannot write \(new)") }
        defer { close(descriptor) }
        do throws(Failure) {
            try Self.copy(from: source, pipe ?? "standard input", to: descriptor, new)
            guard rename(new, path) == 0 else { throw Self.failure("cannot write \(path)") }
        } catch {
            unlink(new)
            throw error
        }
    }

    /// Whether the file is whole: it has its name only then.
    var isFilled: Bool { access(path, R_OK) == 0 }

    /// Writes the file to standard output, or to its other target.
    func deliver() throws(Failure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure("cannot read \(path)") }
        defer { close(descriptor) }
        guard let target else { return try Self.copy(from: descriptor, path, to: STDOUT_FILENO, "standard output") }
        let sink = open(target, O_WRONLY | O_TRUNC | O_CLOEXEC)
        guard sink >= 0 else { throw Self.failure("cannot write \(target)") }
        defer { close(sink) }
        try Self.copy(from: descriptor, path, to: sink, target)
    }

    func remove() { SpoolFolder(folder).remove(String(path.dropFirst(folder.count + 1))) }

    /// Records the batch of the spool, so that the spool is removed with it.
    ///
    /// The batch need not exist yet. The next process removes a spool without a batch.
    func note(batch: String) throws(Failure) {
        let new = path + ".batch.new"
        guard let file = fopen(new, "we") else { throw Self.failure("cannot write \(new)") }
        let isWritten = fputs(batch, file) >= 0
        guard fclose(file) == 0, isWritten, rename(new, path + ".batch") == 0 else {
            throw Self.failure("cannot write \(path).batch")
        }
    }

    private static func copy(
        from source: Int32, _ sourceName: String, to target: Int32, _ targetName: String
    ) throws(Failure) {
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = read(source, &buffer, buffer.count)
            guard count != 0 else { return }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure("cannot read \(sourceName)")
            }
            var done = 0
            while done < count {
                let written = buffer.withUnsafeBytes { bytes in
                    write(target, bytes.baseAddress.map { $0 + done }, count - done)
                }
                if written < 0 {
                    if errno == EINTR { continue }
                    // A reader that closes its end, such as head(1), has enough.
                    if errno == EPIPE { return }
                    throw failure("cannot write \(targetName)")
                }
                done += written
            }
        }
    }

    private static func failure(_ what: String) -> Failure {
        Failure(.stateUnusable, "\(what): \(String(cString: strerror(errno)).lowercasedFirst)")
    }
}
