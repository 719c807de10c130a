import TransferCore

/// The meaning of a column of a CSV file, by its name in the header line.
package enum CSVColumn: Sendable {
    /// A source of the file; several source columns of one row are mirrors.
    case source
    /// A key of a job, such as `to` or `retry.limit`.
    case key([String], Kind)
    /// The hexadecimal digits of a checksum.
    case digest(String)
    /// A column that only concerns the table's owner.
    case leftOut

    package enum Kind: Sendable {
        case text, number, choice
        /// Words separated by blanks.
        case words
        /// A secret, which may only be named.
        case secret
    }

    /// The reason, in words, why a column cannot be read.
    package struct Refusal: Error {
        package var message: String
    }

    /// Creates the meaning of a column.
    ///
    /// - Parameter name: The column's name in the header.
    package init(_ name: String) throws(Refusal) {
        let lower = name.lowercased()
        if ["url", "download", "mirror"].contains(lower) {
            self = .source
            return
        }
        if let algorithm = ["sha256", "sha512", "sha1", "md5"].first(where: { $0 == lower.filter { $0 != "-" } }) {
            self = .digest(algorithm)
            return
        }
        var path = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let key = Self.keys.first(where: { $0.lowercased() == path[0].lowercased() }) else {
            if let meant = Self.synonyms[lower] ?? NearestKey.suggestion(for: name, among: Self.keys + ["url"]) {
                throw Refusal(message: "unknown column \(Wording.quoted(name)); did you mean \"\(meant)\"?")
            }
            self = .leftOut
            return
        }
        path[0] = key
        if Self.objects.contains(key) {
            guard path.count > 1, !path.contains("") else {
                throw Refusal(message: "\"\(key)\" has keys of its own: a column is \(key).NAME")
            }
            // The name of a field may contain dots, and the source of a secret may follow it.
            if Self.named.contains(key), path.count > 2 {
                let isReference = SecretKey(rawValue: path[path.count - 1]) != nil
                let end = isReference ? path.count - 1 : path.count
                path = [key, path[1..<end].joined(separator: ".")] + path[end...]
            }
        } else if path.count > 1 {
            throw Refusal(message: "\"\(key)\" has no keys of its own")
        }
        self = .key(path, Self.kind(of: path))
    }

    private static func kind(of path: [String]) -> Kind {
        let isNamed = named.contains(path[0])
        if isNamed ? path.count == 2 && Redaction.isSecretHeader(path[1]) : secrets.contains(path[path.count - 1]) {
            return .secret
        }
        if isNamed { return .text }
        let name = path.joined(separator: ".")
        if numbers.contains(name) { return .number }
        if choices.contains(name) { return .choice }
        return ["needs", "tls.pins"].contains(name) ? .words : .text
    }

    private static let keys = JobFields.all.table.names
    /// The keys whose values are objects.
    private static let objects: Set<String> = [
        "headers", "retry", "lowSpeed", "tls", "auth", "s3", "ssh", "ftp", "network", "metadata", "fields", "tus",
    ]
    /// The objects whose keys are names chosen by the user.
    private static let named: Set<String> = ["headers", "metadata", "fields"]
    private static let secrets: Set<String> = [
        "password", "bearer", "keyPassphrase", "secretKey", "sessionToken",
    ]
    private static let numbers: Set<String> = [
        "priority", "segments", "size", "maxRedirects", "parallel", "retry.limit", "retry.base",
    ]
    private static let choices: Set<String> = [
        "strict", "remoteTime", "createFolders", "inplace", "checksums", "tls.insecure", "retry.jitter", "auth.netrc",
        "ftp.requireTLS", "ftp.active", "ssh.agent", "compressed", "background",
    ]
    private static let synonyms: [String: String] = [
        "file": "to", "filename": "to", "file_name": "to", "path": "to", "output": "to", "out": "to", "dest": "to",
        "destination": "to", "target": "to", "uri": "url", "urls": "url", "link": "url", "href": "url",
        "hash": "checksum", "digest": "checksum",
    ]
}
