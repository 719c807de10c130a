public import TransferCore

/// A file of checksums as sha256sum, md5sum, openssl and their BSD counterparts write it.
///
/// Lines are `HASH  NAME`, `HASH *NAME`, `HASH NAME` (`md5 -r`), `SHA256 (NAME) = HASH` or `SHA256(NAME)= HASH`
/// (openssl-dgst(1)); a backslash before the line means that the name is escaped (sha256sum(1)). A digest alone is that of
/// whichever file is asked for, where the list has nothing else. Other lines, such as comments and signatures, are passed
/// over, as those tools do.
public struct ChecksumList: Sendable {
    private var checksums: [String: Checksum] = [:]
    /// The same by names without percent codes; `nil` where two names with different checksums come to one.
    private var decoded: [String: Checksum?] = [:]
    /// Digests without a name.
    private var bare: [Checksum] = []

    public var isEmpty: Bool { checksums.isEmpty && bare.isEmpty }

    /// The list names no file: its digest is that of one file alone.
    public var isUnnamed: Bool { checksums.isEmpty && !bare.isEmpty }

    /// - Parameter text: The file.
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
            // Of several algorithms the longest digest is the strongest.
            if let old = checksums[key], old.hex.utf8.count >= checksum.hex.utf8.count { continue }
            checksums[key] = checksum
        }
        for (name, checksum) in checksums {
            let plain = Self.decoded(name)
            // A name that has no codes is the file's own.
            if plain != name, let own = checksums[plain] {
                decoded[plain] = own
            } else if let known = decoded[plain], known != checksum {
                decoded[plain] = checksums[plain]
            } else {
                decoded[plain] = checksum
            }
        }
    }

    /// The checksum of the name itself, else of the longest end of its path that is listed, at last its base name. Percent
    /// codes may be in either of both.
    public func checksum(of path: String) -> Checksum? {
        var name = Substring(path)
        while true {
            if let checksum = checksums[String(name)] ?? decoded[Self.decoded(name)] ?? nil { return checksum }
            guard let slash = name.firstIndex(of: "/") else { return unnamed }
            name = name[name.index(after: slash)...]
        }
    }

    /// The digest that stands alone; of several algorithms the strongest, of several files none.
    private var unnamed: Checksum? {
        guard checksums.isEmpty, let best = bare.max(by: { $0.hex.utf8.count < $1.hex.utf8.count }) else { return nil }
        return bare.allSatisfy { $0.algorithm != best.algorithm || $0 == best } ? best : nil
    }

    private static func decoded(_ name: some StringProtocol) -> String {
        guard name.utf8.contains(UInt8(ascii: "%")) else { return String(name) }
        return String(decoding: PercentEncoding.decode(name), as: UTF8.self)
    }

    /// A digest before its name, or alone.
    private static func gnu(_ line: ArraySlice<UInt8>) -> (Checksum, String?)? {
        let isEscaped = line.first == UInt8(ascii: "\\")
        let content = isEscaped ? line.dropFirst() : line
        let digits = content.prefix { !isBlank($0) }
        guard let algorithm = DigestAlgorithm.allCases.first(where: { $0.byteCount * 2 == digits.count }),
            let checksum = Checksum(algorithm, hex: String(decoding: digits, as: UTF8.self))
        else { return nil }
        let rest = content[digits.endIndex...].dropFirst()
        guard rest.contains(where: { !isBlank($0) }) else { return isEscaped ? nil : (checksum, nil) }
        // The second letter says how the file was read.
        let hasKind = rest.first == 0x20 || rest.first == UInt8(ascii: "*")
        return (checksum, name(hasKind ? rest.dropFirst() : rest, isEscaped: isEscaped))
    }

    /// A digest behind its name: `SHA256 (NAME) = HASH`, `SHA2-256(NAME)= HASH`.
    private static func bsd(_ line: ArraySlice<UInt8>) -> (Checksum, String?)? {
        let isEscaped = line.first == UInt8(ascii: "\\")
        let content = isEscaped ? line.dropFirst() : line
        guard let open = content.firstIndex(of: UInt8(ascii: "(")),
            let close = content.lastIndex(of: UInt8(ascii: ")")), open < close
        else { return nil }
        let behind = content[(close + 1)...].filter { !isBlank($0) }
        guard behind.first == UInt8(ascii: "=") else { return nil }
        let algorithm = String(decoding: content[..<open], as: UTF8.self).lowercased().filter { $0 != " " && $0 != "-" }
        // OpenSSL 3 names the family too.
        let names = ["sha2256": "sha256", "sha2512": "sha512"]
        let hex = String(decoding: behind.dropFirst(), as: UTF8.self)
        guard let checksum = Checksum("\(names[algorithm] ?? algorithm):\(hex)") else { return nil }
        let name = name(content[(open + 1)..<close], isEscaped: isEscaped)
        // The line of openssl for standard input has no name.
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

/// The lists of checksums that a job file names, each read once.
package final class ChecksumSource {
    private let read: (String) throws -> [UInt8]
    private var lists: [String: Result<ChecksumList, Unreadable>] = [:]

    package struct Unreadable: Error {
        package var message: String
    }

    package init(_ read: @escaping (String) throws -> [UInt8]) {
        self.read = read
    }

    /// For jobs whose checksums were looked up before.
    package static var none: ChecksumSource { ChecksumSource { _ in [] } }

    package func list(_ path: String) throws(Unreadable) -> ChecksumList {
        if let known = lists[path] { return try known.get() }
        let result: Result<ChecksumList, Unreadable>
        do {
            let list = ChecksumList(try read(path))
            result =
                list.isEmpty
                ? .failure(Unreadable(message: "\(Wording.quoted(path)) holds no checksums")) : .success(list)
        } catch {
            result = .failure(Unreadable(message: "can't read \(Wording.quoted(path)): \(error)"))
        }
        lists[path] = result
        return try result.get()
    }
}
