import CTransferLinux
import Glibc
package import TransferCore

/// A file with one line that only its owner can read, such as a secret that a service creates at its first start.
package enum PrivateFile {
    /// Returns the line of a file, which is created if it does not exist.
    ///
    /// The file gets its name once it is whole and durable, so that no other process reads a part of it.
    ///
    /// - Parameter make: A closure that makes the line of a new file.
    /// - Returns: The line, and whether this call has created the file.
    /// - Throws: `TransferError` for a file that cannot be used.
    package static func text(
        _ path: String, _ make: () -> String
    ) throws(TransferError) -> (text: String, isNew: Bool) {
        if let text = try existing(path) { return (text, false) }
        let (text, beside) = (make(), "\(path).\(getpid()).new")
        unlink(beside)
        let file = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw fault("make", path) }
        defer {
            close(file)
            unlink(beside)
        }
        let line = Array((text + "\n").utf8)
        guard write(file, line, line.count) == line.count, fsync(file) == 0 else { throw fault("write", path) }
        guard link(beside, path) == 0 else {
            // Another process was faster.
            guard errno == EEXIST, let text = try existing(path) else { throw fault("make", path) }
            return (text, false)
        }
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw fault("make", path) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw fault("make", path) }
        return (text, true)
    }

    /// Returns the line of a file; `nil` where it does not exist, or its folder cannot be looked into.
    ///
    /// - Throws: `TransferError` for a file that cannot be used.
    package static func existing(_ path: String) throws(TransferError) -> String? {
        access(path, F_OK) == 0 ? try read(path) : nil
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

    /// Returns 256 random bits from the kernel (SystemRandomNumberGenerator uses getrandom(2) here), as 64 hexadecimal
    /// digits.
    package static func randomDigits() -> String {
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
