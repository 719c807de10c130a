import FoundationEssentials
import Glibc
import TransferCore
import TransferCrypto
import TransferQueue

/// A file that stands for standard input or output: what comes by a stream can't be sent again, and what went out can't be
/// taken back. So standard input has arrived before its first byte is sent, and standard output gets a file when it's whole
/// and proven.
///
/// It's in the folder of the queue's state under a name that the URL makes, so that the same command goes on with it.
struct StreamSpool {
    enum Direction: String { case input, output }

    let path: String

    /// - Parameter url: What the stream goes to or comes from.
    init(_ direction: Direction, of url: String, state: String?) throws {
        let folder = try StateFolder(try Composition.statePath(state)).path + "/streams"
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw Self.failure("can't make \(folder)") }
        let digest = try Digest(.sha256)
        Array(url.utf8).withUnsafeBytes { digest.update($0) }
        path = try "\(folder)/\(direction.rawValue)-\(digest.finish().hex.prefix(16))"
    }

    /// Takes all of standard input.
    ///
    /// - Throws: `Failure` when it can't be read or kept.
    func fill() throws(Failure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failure("can't write \(path)") }
        defer { close(descriptor) }
        do throws(Failure) {
            try Self.copy(from: STDIN_FILENO, "standard input", to: descriptor, path)
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Writes the file to standard output.
    func empty() throws(Failure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure("can't read \(path)") }
        defer { close(descriptor) }
        try Self.copy(from: descriptor, path, to: STDOUT_FILENO, "standard output")
    }

    func remove() { unlink(path) }

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
                let written = buffer.withUnsafeBytes { write(target, $0.baseAddress! + done, count - done) }
                if written < 0 {
                    if errno == EINTR { continue }
                    throw failure("can't write \(targetName)")
                }
                done += written
            }
        }
    }

    private static func failure(_ what: String) -> Failure {
        Failure(.stateUnusable, "\(what): \(String(cString: strerror(errno)).lowercased())")
    }
}
