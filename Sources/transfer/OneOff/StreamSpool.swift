import FoundationEssentials
import Glibc
import TransferCore
import TransferCrypto
import TransferQueue

/// A file that stands for standard input or output: a stream can't be sent again, and what went out can't be taken back. So
/// standard input is read to its end before its first byte is sent, and standard output gets a file when it's whole and
/// proven.
///
/// The spool is in the folder of the queue's state; its name is made from the URL and the folder that the command runs in,
/// so that the same command goes on with it. One process at a time has it.
final class StreamSpool: Sendable {
    enum Direction: String { case input, output }

    let path: String
    private let folder: String
    /// Locked until the process ends, so that no other takes the spool for its own.
    private let lock: Int32

    /// - Parameter url: The URL that the stream goes to or comes from.
    /// - Throws: `Failure` when another process has the spool, or the folder can't be used.
    init(_ direction: Direction, of url: String, state: String?) throws {
        folder = try StateFolder(try Composition.statePath(state)).path + "/streams"
        let digest = try Digest(.sha256)
        let key = "\(url)\n\(FileManager.default.currentDirectoryPath)"
        Array(key.utf8).withUnsafeBytes { digest.update($0) }
        path = try "\(folder)/\(direction.rawValue)-\(digest.finish().hex.prefix(16))"
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw Self.failure("can't make \(folder)") }
        lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw Self.failure("can't write \(path).lock") }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw Failure(.workLeft, "another process moves standard \(direction.rawValue) of this URL")
        }
    }

    deinit { if lock >= 0 { close(lock) } }

    /// Takes all of standard input.
    ///
    /// - Throws: `Failure` when it can't be read or kept; what was kept before stays then.
    func fill() throws(Failure) {
        let new = path + ".new"
        let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failure("can't write \(new)") }
        defer { close(descriptor) }
        do throws(Failure) {
            try Self.copy(from: STDIN_FILENO, "standard input", to: descriptor, new)
            guard rename(new, path) == 0 else { throw Self.failure("can't write \(path)") }
        } catch {
            unlink(new)
            throw error
        }
    }

    /// Writes the file to standard output.
    func copyToStandardOutput() throws(Failure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure("can't read \(path)") }
        defer { close(descriptor) }
        try Self.copy(from: descriptor, path, to: STDOUT_FILENO, "standard output")
    }

    func remove() { Self.remove(path) }

    private static func remove(_ path: String) {
        for suffix in ["", ".batch", ".lock"] { unlink(path + suffix) }
    }

    /// Notes whose spool it is, so that it goes when that batch does.
    func note(batch: String) throws(Failure) {
        guard let file = fopen(path + ".batch", "we") else { throw Self.failure("can't write \(path).batch") }
        let isWritten = fputs(batch, file) >= 0
        guard fclose(file) == 0, isWritten else { throw Self.failure("can't write \(path).batch") }
    }

    /// Removes the spools that nobody will send any more: of batches that were forgotten, cancelled or done. One that
    /// another process has is left to that.
    static func sweep(_ remote: QueueRemote, state: String?) throws {
        let folder = try Composition.statePath(state) + "/streams"
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return }
        let known = Set(try remote.batchNames())
        for name in names where name.hasSuffix(".batch") {
            let path = folder + "/" + name.dropLast(".batch".count)
            guard let bytes = try? MappedFile(path + ".batch").withBytes({ Array($0) }) else { continue }
            let batch = String(decoding: bytes, as: UTF8.self)
            guard try !known.contains(batch) || remote.isOver(batch) else { continue }
            let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard lock >= 0 else { continue }
            defer { close(lock) }
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { remove(path) }
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
                throw failure("can't read \(sourceName)")
            }
            var done = 0
            while done < count {
                let written = buffer.withUnsafeBytes { bytes in
                    write(target, bytes.baseAddress.map { $0 + done }, count - done)
                }
                if written < 0 {
                    if errno == EINTR { continue }
                    throw failure("can't write \(targetName)")
                }
                done += written
            }
        }
    }

    private static func failure(_ what: String) -> Failure {
        Failure(.stateUnusable, "\(what): \(String(cString: strerror(errno)).lowercasedFirst)")
    }
}

extension QueueRemote {
    /// Whether all jobs of the batch were done or cancelled.
    func isOver(_ batch: String) throws -> Bool {
        try statuses(name: batch).allSatisfy { $0.total > 0 && $0.done + $0.cancelled == $0.total }
    }
}
