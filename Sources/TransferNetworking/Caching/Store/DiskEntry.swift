import Foundation
import TransferCore
import TransferCrypto

/// The responses of one URL as the bytes of one file. The parts are a mark, the digest of the rest, the length of the
/// description, the description as JSON, and the bodies.
///
/// The digest detects files that were truncated, mixed up, or overwritten by other programs. Files that do not match it
/// are dropped.
enum DiskEntry {
    private static let mark = Array("TKCACHE1".utf8)
    private static let headLength = mark.count + 32 + 8

    private struct Description: Codable {
        var key: String
        var responses: [ResponseDescription]
    }

    static func encode(_ responses: [StoredResponse], of key: String) -> Data? {
        let description = Description(key: key, responses: responses.map { ResponseDescription($0) })
        guard let json = try? JSONEncoder().encode(description) else { return nil }
        var rest = Data()
        withUnsafeBytes(of: UInt64(json.count).bigEndian) { rest.append(contentsOf: $0) }
        rest.append(json)
        for response in responses { rest.append(response.body) }
        guard let digest = digest(of: rest) else { return nil }
        return Data(mark) + digest + rest
    }

    /// - Returns: The responses; `nil` for anything but a complete file of that URL.
    static func decode(_ data: Data, of key: String) -> [StoredResponse]? {
        let data = data.startIndex == 0 ? data : Data(data)
        guard data.count >= headLength, data.prefix(mark.count).elementsEqual(mark) else { return nil }
        let rest = data[(mark.count + 32)...]
        guard digest(of: rest) == data[mark.count..<mark.count + 32] else { return nil }
        let length = rest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard length <= UInt64(rest.count - 8) else { return nil }
        let bodies = headLength + Int(length)
        guard let description = try? JSONDecoder().decode(Description.self, from: data[headLength..<bodies]),
            description.key == key
        else { return nil }
        var position = bodies
        var responses: [StoredResponse] = []
        for response in description.responses {
            guard response.length >= 0, response.length <= data.count - position else { return nil }
            responses.append(
                response.response(key, body: Data(data[position..<position + response.length])))
            position += response.length
        }
        return position == data.count ? responses : nil
    }

    private static func digest(of data: Data) -> Data? {
        guard let digest = try? Digest(.sha256) else { return nil }
        data.withUnsafeBytes { digest.update($0) }
        guard let hex = try? digest.finish().hex else { return nil }
        let digits = hex.utf8.map { $0 > 0x39 ? $0 - 0x57 : $0 - 0x30 }
        return Data(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }
}

/// The description of a stored response: everything but its body.
struct ResponseDescription: Codable {
    var status: Int
    var fields: [HeaderField]
    var requestTime: Double
    var responseTime: Double
    var selection: [String: String]
    var identity: String?
    /// The length of the body, in bytes.
    var length: Int

    init(_ response: StoredResponse) {
        status = response.status
        fields = response.fields
        requestTime = response.requestTime
        responseTime = response.responseTime
        selection = response.selection
        identity = response.identity
        length = response.body.count
    }

    func response(_ key: String, body: Data) -> StoredResponse {
        var response = StoredResponse(
            CacheRequest(key: key), status: status, fields: fields, body: body, requestTime: requestTime,
            responseTime: responseTime)
        response.selection = selection
        response.identity = identity
        return response
    }
}
