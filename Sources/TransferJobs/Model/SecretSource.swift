import CTransferLinux
import Glibc
package import TransferCore
import TransferEngine

/// The source of named secrets, which are read when they are needed.
public struct SecretSource: Sendable {
    private let environment: @Sendable (String) -> String?
    private let credentialsFolder: String?
    /// Whether the program lets its environment be read.
    package let hasEnvironment: Bool
    /// The values of credentials that the program registered, already requested from it.
    private var registered: [String: String] = [:]
    /// The S3 credentials that sources gave to this process; `nil` where none is asked.
    package var leases: S3CredentialMemory?

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - environment: A closure that returns values of environment variables. The default offers none, and then no
    ///     S3 credentials are requested from the machine's role either.
    ///   - credentialsFolder: The value of systemd's `$CREDENTIALS_DIRECTORY`.
    public init(
        environment: (@Sendable (String) -> String?)? = nil, credentialsFolder: String? = nil
    ) {
        self.environment = environment ?? { _ in nil }
        hasEnvironment = environment != nil
        self.credentialsFolder = credentialsFolder
    }

    /// Returns the same source with these values for credentials, by name.
    package func with(_ registered: [String: String]) -> SecretSource {
        var source = self
        source.registered = registered
        return source
    }

    /// Returns the value of an environment variable that is no secret.
    package func variable(_ name: String) -> String? { environment(name) }

    /// Returns the text of a file with several lines, such as one of profiles; `nil` where it is unreadable or larger
    /// than 1 MiB.
    package static func text(of path: String) -> String? {
        let limit = 1 << 20
        guard let bytes = try? bytes(of: path, upTo: limit + 1), bytes.count <= limit else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the text of a file of cookies.
    ///
    /// - Throws: `secretMissing` where the file cannot be read.
    package static func cookies(in path: String) throws(TransferError) -> String {
        String(decoding: try bytes(of: path, upTo: 16 << 20, as: "the file of cookies"), as: UTF8.self)
    }

    /// Returns the user's `.netrc` and its path. A missing file counts as an empty one.
    ///
    /// - Parameter file: The path of another file, which must exist.
    /// - Throws: `secretMissing` for a file that exists and cannot be read.
    package func netrc(_ file: String? = nil) throws(TransferError) -> (path: String, Netrc) {
        if let file {
            return (file, Netrc(String(decoding: try Self.bytes(of: file, upTo: 1 << 20), as: UTF8.self)))
        }
        let home = environment("HOME").flatMap { $0.isEmpty ? nil : $0 } ?? Self.home
        guard let path = home.map({ $0 + "/.netrc" }) else { return ("~/.netrc", Netrc()) }
        var status = stat()
        guard stat(path, &status) == 0 || errno != ENOENT && errno != ENOTDIR else { return (path, Netrc()) }
        return (path, Netrc(String(decoding: try Self.bytes(of: path, upTo: 1 << 20), as: UTF8.self)))
    }

    /// The home folder, from the system's list of users.
    private static let home: String? = UserEntry(geteuid())?.home

    /// Returns the value of a text.
    ///
    /// - Throws: `secretMissing` with the name of the secret, never its value.
    package func read(_ text: SecretText) throws(TransferError) -> String {
        switch text {
        case .literal(let value): return value
        case .environment(let name):
            guard let value = environment(name) else {
                throw TransferError(.secretMissing, "the environment variable \(name) is not set")
            }
            return try Self.checked(value, "the environment variable \(name)")
        case .file(let path): return try Self.contents(path)
        case .credential(let name):
            if let value = registered[name] { return try Self.checked(value, "the credential \"\(name)\"") }
            guard let credentialsFolder, !name.contains("/") else {
                throw TransferError(.secretMissing, "no credential \"\(name)\" was given")
            }
            return try Self.contents(credentialsFolder + "/" + name)
        }
    }

    private static func unreadable(_ path: String, _ what: String) -> TransferError {
        let reason = String(cString: strerror(errno)).lowercasedFirst
        return TransferError(.secretMissing, "cannot read \(what) \(path): \(reason)")
    }

    private static func contents(_ path: String) throws(TransferError) -> String {
        var text = String(decoding: try bytes(of: path, upTo: 64 << 10), as: UTF8.self)
        while text.utf8.last == 0x0A || text.utf8.last == 0x0D { text.unicodeScalars.removeLast() }
        return try checked(text, path)
    }

    private static func bytes(of path: String, upTo limit: Int, as what: String = "the secret in") throws(TransferError)
        -> [UInt8]
    {
        // `O_NONBLOCK`: opening a pipe must not wait for a writer.
        let descriptor = transfer_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
        guard descriptor >= 0 else { throw unreadable(path, what) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFIFO else {
            throw TransferError(.secretMissing, "\(what) \(path) cannot be read: it is a pipe; name a file")
        }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while bytes.count < limit {
            let count = Glibc.read(descriptor, &piece, min(piece.count, limit - bytes.count))
            guard count >= 0 else { throw unreadable(path, what) }
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return bytes
    }

    /// Returns the secret if it can be part of a header: a line break in it would end the header.
    private static func checked(_ text: String, _ source: String) throws(TransferError) -> String {
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw TransferError(.secretMissing, "the secret in \(source) has a line break or control character")
        }
        return text
    }
}
