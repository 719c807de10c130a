import FoundationEssentials
import TransferCore

/// The fields of tus 1.0, encoded and parsed. Every number of a server is validated.
enum TusFields {
    static let version = "1.0.0"
    static let bodyType = "application/offset+octet-stream"

    /// Parses a non-negative integer in decimal digits: `Int64` would accept a sign.
    static func count(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }

    /// Returns the offset in an answer.
    ///
    /// - Throws: `badResponse` when Upload-Offset is missing or no number.
    static func offset(_ head: ResponseHead, of method: String) throws(TransferError) -> Int64 {
        guard let text = head.singleValue("Upload-Offset") else {
            throw TransferError(
                .badResponse, "the server's answer to \(method) does not say what it has (Upload-Offset is missing)")
        }
        guard let offset = count(text) else { throw TusFailure.noNumber("Upload-Offset", text) }
        return offset
    }

    /// Returns the length in an answer, or `nil` when the server does not report it.
    ///
    /// - Throws: `badResponse` when Upload-Length is no number.
    static func length(_ head: ResponseHead) throws(TransferError) -> Int64? {
        guard let text = head.value("Upload-Length") else { return nil }
        guard let length = count(text) else { throw TusFailure.noNumber("Upload-Length", text) }
        return length
    }

    /// Returns the value of Upload-Metadata: names and values in Base64, the given ones before the file's name and
    /// type.
    static func metadata(_ given: [TusMetadata], of source: UploadSource) -> String {
        let type = FileMediaType.suggested(by: source.name) ?? FileMediaType.unknown
        let own = [TusMetadata("filename", source.name), TusMetadata("filetype", type)]
        let all = given + own.filter { own in !given.contains { $0.name == own.name } }
        return all.map { $0.value.isEmpty ? $0.name : "\($0.name) \(Data($0.value.utf8).base64EncodedString())" }
            .joined(separator: ",")
    }

    /// Returns the value of Upload-Checksum.
    static func checksum(_ checksum: Checksum) -> String {
        let digits = Array(checksum.hex.utf8).map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x61 + 10 }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        return "\(checksum.algorithm.rawValue) \(Data(bytes).base64EncodedString())"
    }
}

/// The features that a server lists in its answer to OPTIONS.
struct TusFeatures: Sendable, Hashable {
    var versions: [String] = []
    var extensions: Set<String> = []
    var checksums: Set<String> = []
    var maxSize: Int64?

    /// Creates the features of a server that lists none: it is assumed to offer the core and creation.
    init() {}

    init(_ head: ResponseHead) {
        versions = Self.list(head, "Tus-Version")
        extensions = Set(Self.list(head, "Tus-Extension"))
        checksums = Set(Self.list(head, "Tus-Checksum-Algorithm"))
        maxSize = head.value("Tus-Max-Size").flatMap(TusFields.count)
    }

    static func list(_ head: ResponseHead, _ name: String) -> [String] {
        head.fields.filter { $0.isNamed(name) }
            .flatMap { $0.value.split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init) }
    }
}
