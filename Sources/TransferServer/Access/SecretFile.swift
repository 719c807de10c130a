import Glibc
import TransferCore
public import TransferQueue

/// The secret of a service for which none was configured. It is created at the first start, in a file that only the
/// service's user can read.
public enum SecretFile {
    /// Returns the secret, and creates it if necessary.
    ///
    /// - Parameter folder: The queue's state folder.
    /// - Returns: The secret as text, and whether it was created by this call.
    /// - Throws: `TransferError` for a file that cannot be used.
    public static func secret(in folder: String) throws(TransferError) -> (text: String, isNew: Bool) {
        let path = folder + "/serve.secret"
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            guard errno == EEXIST else { throw fault("make", path) }
            return (try read(path), false)
        }
        defer { close(file) }
        let text = random()
        let line = Array((text + "\n").utf8)
        guard write(file, line, line.count) == line.count, fsync(file) == 0 else {
            let error = fault("write", path)
            unlink(path)
            throw error
        }
        return (text, true)
    }

    private static func read(_ path: String) throws(TransferError) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { throw fault("read", path) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw fault("read", path) }
        guard status.st_mode & 0o077 == 0 else {
            throw TransferError(
                .fileAccess, "\(path) can be read by others: take that away with chmod 600 \(path), or remove it")
        }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(file, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        return String(text.prefix { !$0.isNewline })
    }

    /// Returns 256 random bits from the kernel (SystemRandomNumberGenerator uses getrandom(2) here), as hexadecimal
    /// digits.
    private static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let digits = String(UInt64.random(in: 0...UInt64.max, using: &generator), radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }

    private static func fault(_ verb: String, _ path: String) -> TransferError {
        let reason = String(cString: strerror(errno)).lowercasedFirst
        return TransferError(.fileAccess, "cannot \(verb) \(path): \(reason)", cause: .os(errno: errno))
    }
}
