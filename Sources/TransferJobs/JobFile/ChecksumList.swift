public import TransferCore

/// A checksum file as written by sha256sum, md5sum, openssl and their BSD counterparts.
///
/// Lines are `HASH  NAME`, `HASH *NAME`, `HASH NAME` (`md5 -r`), `SHA256 (NAME) = HASH` or `SHA256(NAME)= HASH`
/// (openssl-dgst(1)). A backslash before the line means that the name is escaped (sha256sum(1)). A list of nothing but
/// digests without names applies to whichever file is asked for. Other lines, such as comments and signatures, are
/// ignored, as those tools do.
public struct ChecksumList: Sendable {
    private var checksums: [String: Checksum] = [:]
    /// The same checksums by names with percent codes decoded; `nil` where two names with different checksums become
    /// equal.
    private var decoded: [String: Checksum?] = [:]
    /// The digests without a name.
    private var bare: [Checksum] = []
    /// Whether the list was not read on purpose, so that it says nothing about any file.
    package private(set) var isUnread = false

    /// Whether the list contains no checksum.
    public var isEmpty: Bool { checksums.isEmpty && bare.isEmpty }

    /// Whether the list consists of digests without names, so that it applies to a single file.
    public var isUnnamed: Bool { checksums.isEmpty && !bare.isEmpty }

    /// Parses a list.
    ///
    /// - Parameter text: The bytes of the checksum file.
    public init(_ text: [UInt8]) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let content = text.starts(with: mark) ? text[mark.count...] : text[...]
        for line in content.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let line = line.drop(while: Self.isBlank)
            guard let (checksum, name) = Self.gnu(line) ?? Self.bsd(line) else { continue }
            guard let name else {
                bare.append(checksum)
                continue
            }
            let key = DestinationPath.normalized(name)
            // With several algorithms, the longest digest counts as the strongest.
            if let old = checksums[key], old.hex.utf8.count >= checksum.hex.utf8.count { continue }
            checksums[key] = checksum
        }
        for (name, checksum) in checksums {
            let plain = Self.decoded(name)
            // A name that is listed literally takes precedence over a name with percent codes that decodes to it.
            if plain != name, let own = checksums[plain] {
                decoded[plain] = own
            } else if let known = decoded[plain], known != checksum {
                decoded[plain] = checksums[plain]
            } else {
                decoded[plain] = checksum
            }
        }
    }

    /// A list that was not read on purpose: no file is missing from it.
    package static let unread: ChecksumList = {
        var list = ChecksumList([])
        list.isUnread = true
        return list
    }()

    /// Returns the checksum for a path: for the whole path, or else for the longest listed suffix of it, down to the
    /// base name. Percent codes may be in the path or in the list.
    public func checksum(of path: String) -> Checksum? {
        var name = Substring(path)
        while true {
            if let checksum = checksums[String(name)] ?? decoded[Self.decoded(name)] ?? nil { return checksum }
            guard let slash = name.firstIndex(of: "/") else { return unnamed }
            name = name[name.index(after: slash)...]
        }
    }

    /// The checksum without a name. With several algorithms it is the strongest; with digests of several files it is
    /// `nil`.
    private var unnamed: Checksum? {
        guard checksums.isEmpty, let best = bare.max(by: { $0.hex.utf8.count < $1.hex.utf8.count }) else { return nil }
        return bare.allSatisfy { $0.algorithm != best.algorithm || $0 == best } ? best : nil
    }

    private static func decoded(_ name: some StringProtocol) -> String {
        guard name.utf8.contains(UInt8(ascii: "%")) else { return String(name) }
        return String(decoding: PercentEncoding.decode(name), as: UTF8.self)
    }

    /// Parses a line with the digest before the name, or with a digest alone.
    private static func gnu(_ line: ArraySlice<UInt8>) -> (Checksum, String?)? {
        let isEscaped = line.first == UInt8(ascii: "\\")
        let content = isEscaped ? line.dropFirst() : line
        let digits = content.prefix { !isBlank($0) }
        guard let algorithm = DigestAlgorithm.allCases.first(where: { $0.byteCount * 2 == digits.count }),
            let checksum = Checksum(algorithm, hex: String(decoding: digits, as: UTF8.self))
        else { return nil }
        let rest = content[digits.endIndex...].dropFirst()
        guard rest.contains(where: { !isBlank($0) }) else { return isEscaped ? nil : (checksum, nil) }
        // The second separator character says whether the file was read as text or as binary.
        let hasKind = rest.first == 0x20 || rest.first == UInt8(ascii: "*")
        return (checksum, name(hasKind ? rest.dropFirst() : rest, isEscaped: isEscaped))
    }

    /// Parses a line with the digest after the name: `SHA256 (NAME) = HASH` or `SHA2-256(NAME)= HASH`.
    private static func bsd(_ line: ArraySlice<UInt8>) -> (Checksum, String?)? {
        let isEscaped = line.first == UInt8(ascii: "\\")
        let content = isEscaped ? line.dropFirst() : line
        guard let open = content.firstIndex(of: UInt8(ascii: "(")),
            let close = content.lastIndex(of: UInt8(ascii: ")")), open < close
        else { return nil }
        let behind = content[(close + 1)...].filter { !isBlank($0) }
        guard behind.first == UInt8(ascii: "=") else { return nil }
        let algorithm = String(decoding: content[..<open], as: UTF8.self).lowercased().filter { $0 != " " && $0 != "-" }
        // OpenSSL 3 names the family of the algorithm too.
        let names = ["sha2256": "sha256", "sha2512": "sha512"]
        let hex = String(decoding: behind.dropFirst(), as: UTF8.self)
        guard let checksum = Checksum("\(names[algorithm] ?? algorithm):\(hex)") else { return nil }
        let name = name(content[(open + 1)..<close], isEscaped: isEscaped)
        // For standard input, openssl writes no file name.
        return (checksum, name == "stdin" ? nil : name)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func name(_ bytes: ArraySlice<UInt8>, isEscaped: Bool) -> String {
        guard isEscaped else { return String(decoding: bytes, as: UTF8.self) }
        var result: [UInt8] = []
        var isEscape = false
        for byte in bytes {
            if isEscape {
                result.append(byte == UInt8(ascii: "n") ? 0x0A : byte == UInt8(ascii: "r") ? 0x0D : byte)
                isEscape = false
            } else if byte == UInt8(ascii: "\\") {
                isEscape = true
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

/// The checksum lists that a job file names, each read only once.
package final class ChecksumSource {
    private let read: (String) throws -> [UInt8]
    private var lists: [String: Result<ChecksumList, Unreadable>] = [:]

    /// The error of a reader that asks no server for a list.
    package struct ListNotRead: Error {
        package init() {}
    }

    package struct Unreadable: Error {
        package var message: String
    }

    package init(_ read: @escaping (String) throws -> [UInt8]) {
        self.read = read
    }

    /// A source without lists, for jobs whose checksums have been looked up before.
    package static var none: ChecksumSource { ChecksumSource { _ in [] } }

    package func list(_ path: String) throws(Unreadable) -> ChecksumList {
        if let known = lists[path] { return try known.get() }
        let result: Result<ChecksumList, Unreadable>
        do {
            let list = ChecksumList(try read(path))
            result =
                list.isEmpty
                ? .failure(Unreadable(message: "\(Wording.quoted(path)) holds no checksums")) : .success(list)
        } catch is ListNotRead {
            result = .success(.unread)
        } catch {
            result = .failure(Unreadable(message: "cannot read \(Wording.quoted(path)): \(error)"))
        }
        lists[path] = result
        return try result.get()
    }
}
