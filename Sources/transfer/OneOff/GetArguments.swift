import ArgumentParser
import Glibc
import TransferCore
import TransferQueue

enum StrictArgument {
    static let help =
        "Fail downloads without proof that they are whole: no checksum, and no length but the end of the connection."
}

/// The digest of a file, in the form of job files or aria2.
struct ChecksumArgument: OptionValue {
    let checksum: Checksum

    static let form =
        "ALGORITHM:HEX, such as sha256: and 64 hexadecimal digits (the algorithm is "
        + Wording.alternatives(DigestAlgorithm.allCases.map(\.rawValue)) + ")"

    static func fault(of argument: String) -> String? { ChecksumRule.refusal(of: argument) }

    init?(argument: String) {
        // aria2 writes sha-256=HEX.
        guard let checksum = Checksum(argument) ?? Checksum(Self.colon(argument)) else { return nil }
        self.checksum = checksum
    }

    private static func colon(_ argument: String) -> String {
        guard let equals = argument.firstIndex(of: "=") else { return argument }
        let algorithm = argument[..<equals].filter { $0 != "-" }
        return "\(algorithm):\(argument[argument.index(after: equals)...])"
    }
}

enum URLArgument {
    /// Completes a URL without a scheme by `https`.
    ///
    /// The text must be HOST/PATH with a dot or a port in the host, or `localhost`, and no file may have that name.
    static func completed(_ written: String) -> String {
        guard !written.contains("://") else { return written }
        let authority = written.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host =
            authority.drop { $0 != "@" }.dropFirst().isEmpty ? authority : authority.drop { $0 != "@" }.dropFirst()
        let looksLikeURL = host == "localhost" || host.contains(":") || host.dropFirst().contains(".")
        guard looksLikeURL, written.count > authority.count, !hasScheme(host), access(written, F_OK) != 0 else {
            return written
        }
        return "https://" + written
    }

    /// Returns whether a text begins with the name of a scheme (RFC 3986 §3.1), such as `magnet:`, rather than with a host
    /// and its port.
    private static func hasScheme(_ host: some StringProtocol) -> Bool {
        guard !host.hasPrefix("["), let colon = host.firstIndex(of: ":") else { return false }
        let port = host[host.index(after: colon)...]
        return port.isEmpty || !port.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}

/// The body of a request: a text, or `@FILE`.
enum DataArgument {
    /// Returns the text of a body.
    ///
    /// - Throws: `Failure` for a file that cannot be read, or that is not text.
    static func text(_ argument: String) throws -> String {
        guard argument.hasPrefix("@") else { return argument }
        let path = String(argument.dropFirst())
        let bytes: [UInt8]
        do throws(TransferError) {
            bytes = try MappedFile(path == "-" ? "/dev/stdin" : path).withBytes { Array($0) }
        } catch {
            throw Failure(.wrongUsage, "--data: \(error.message)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.wrongUsage, "--data: \(path) is not text in UTF-8; `transfer put` sends files of any kind")
        }
        return text
    }
}

/// A header field `Name: value`; `$NAME` and `@file` name a value instead of containing it.
enum HeaderArgument {
    /// Parses fields.
    ///
    /// - Throws: `ValidationError`, which never repeats the value.
    static func settings(_ arguments: [String]) throws -> [JobSettings.HeaderSetting] {
        try arguments.map { argument in
            guard let colon = argument.firstIndex(of: ":"), colon > argument.startIndex else {
                throw ValidationError("--header takes \"Name: value\"")
            }
            let name = String(argument[..<colon])
            let text = argument[argument.index(after: colon)...].drop { $0 == " " }
            guard argument.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), !name.contains(" ") else {
                throw ValidationError("the header \(name.debugDescription) has characters that no header may have")
            }
            if let message = HeaderRule.refusal(ofName: name) { throw ValidationError("--header: \(message)") }
            let value: SecretText =
                text.hasPrefix("$")
                ? .environment(String(text.dropFirst()))
                : text.hasPrefix("@")
                    ? .file(Composition.absolute(String(text.dropFirst()))) : .literal(String(text))
            if case .literal = value, Redaction.isSecretHeader(name) {
                // Every user of the machine can see the command line.
                throw ValidationError(
                    "the value of \(name) is a secret: write '\(name): $VARIABLE' or '\(name): @FILE'")
            }
            return JobSettings.HeaderSetting(name: name, value: value)
        }
    }
}
