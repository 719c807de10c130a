public import TransferCore

/// A file of checksums as sha256sum, md5sum and their BSD counterparts write it.
///
/// Lines are `HASH  NAME`, `HASH *NAME` or `SHA256 (NAME) = HASH`; a backslash before the hash means that the name is
/// escaped (sha256sum(1)). Other lines, such as comments and signatures, are passed over, as those tools do.
public struct ChecksumList: Sendable {
    private var checksums: [String: Checksum] = [:]

    public var isEmpty: Bool { checksums.isEmpty }

    /// - Parameter text: The file.
    public init(_ text: [UInt8]) {
        for line in text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            guard let (checksum, name) = Self.gnu(line) ?? Self.bsd(line) else { continue }
            let key = DestinationPath.normalized(name)
            // Of several algorithms the longest digest is the strongest.
            if let old = checksums[key], old.hex.utf8.count >= checksum.hex.utf8.count { continue }
            checksums[key] = checksum
        }
    }

    /// The checksum of the name itself, else of the longest end of its path that is listed, at last its base name.
    public func checksum(of path: String) -> Checksum? {
        var name = Substring(path)
        while true {
            if let checksum = checksums[String(name)] { return checksum }
            guard let slash = name.firstIndex(of: "/") else { return nil }
            name = name[name.index(after: slash)...]
        }
    }

    private static func gnu(_ line: ArraySlice<UInt8>) -> (Checksum, String)? {
        let isEscaped = line.first == UInt8(ascii: "\\")
        let content = isEscaped ? line.dropFirst() : line
        guard let space = content.firstIndex(of: 0x20), space + 2 < content.endIndex,
            content[space + 1] == 0x20 || content[space + 1] == UInt8(ascii: "*"),
            let algorithm = DigestAlgorithm.allCases.first(where: { $0.byteCount * 2 == content[..<space].count }),
            let checksum = Checksum(algorithm, hex: String(decoding: content[..<space], as: UTF8.self))
        else { return nil }
        return (checksum, name(content[(space + 2)...], isEscaped: isEscaped))
    }

    private static func bsd(_ line: ArraySlice<UInt8>) -> (Checksum, String)? {
        let isEscaped = line.first == UInt8(ascii: "\\")
        let content = isEscaped ? line.dropFirst() : line
        guard let open = content.firstIndex(of: UInt8(ascii: "(")),
            let close = content.lastIndex(of: UInt8(ascii: ")")),
            open < close, content[close...].starts(with: ") = ".utf8)
        else { return nil }
        let algorithm = String(decoding: content[..<open], as: UTF8.self).filter { $0 != " " && $0 != "-" }
        let hex = String(decoding: content[(close + 4)...], as: UTF8.self)
        guard let checksum = Checksum("\(algorithm):\(hex)") else { return nil }
        return (checksum, name(content[(open + 1)..<close], isEscaped: isEscaped))
    }

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
