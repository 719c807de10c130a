import TransferCore
import TransferCrypto

/// A server of objects with S3's API: single requests and multipart uploads.
final class ObjectModel {
    struct Object {
        let bytes: [UInt8]
        let tag: String
    }

    private struct Upload {
        let key: String
        let initiated: Int64
        var parts: [Int: Object] = [:]
    }

    /// The objects by their paths.
    private(set) var objects: [String: Object] = [:]
    private var uploads: [String: Upload] = [:]
    private var lastNumber = 0

    /// An object that was made.
    typealias Whole = (path: String, body: [UInt8])

    /// The number of multipart uploads of an object that were neither completed nor aborted.
    func open(_ path: String) -> Int { uploads.values.count { $0.key == path } }

    /// Lets the server lose all multipart uploads.
    func forget() { uploads = [:] }

    func answer(_ request: ServerModel.Request) -> (ServerModel.Answer, Whole?) {
        let parts = request.path.split(separator: "?", maxSplits: 1)
        let path = String(parts[0])
        var query: [Substring: String] = [:]
        for field in parts.dropFirst().first?.split(separator: "&") ?? [] {
            let pair = field.split(separator: "=", maxSplits: 1)
            query[pair[0]] = pair.count > 1 ? String(pair[1]) : ""
        }
        if let claimed = request.headers.value("x-amz-content-sha256"), claimed.utf8.count == 64,
            Self.digest(request.body, .sha256)?.hex != claimed
        {
            return (Self.fault(400, "XAmzContentSHA256Mismatch"), nil)
        }
        if let id = query["uploadId"] { return part(request, path, id, query["partNumber"].flatMap { Int($0) }) }
        if query["uploads"] != nil { return request.method == "POST" ? (create(path), nil) : (list(query), nil) }
        switch request.method {
        case "PUT":
            let object = Object(bytes: request.body, tag: Self.tag(request.body))
            objects[path] = object
            return (Self.answer(200, [HeaderField("ETag", "\"\(object.tag)\"")]), (path, object.bytes))
        case "HEAD", "GET":
            guard let object = objects[path] else { return (Self.fault(404, "NoSuchKey"), nil) }
            let fields = [
                HeaderField("ETag", "\"\(object.tag)\""), HeaderField("Content-Length", "\(object.bytes.count)"),
                HeaderField("Last-Modified", HTTPDate.format(WallTime.seconds)),
            ]
            return (
                ServerModel.Answer(status: 200, fields: fields, body: request.method == "GET" ? object.bytes : []), nil
            )
        default: return (Self.fault(405, "MethodNotAllowed"), nil)
        }
    }

    private func create(_ path: String) -> ServerModel.Answer {
        lastNumber += 1
        uploads["id\(lastNumber)"] = Upload(key: path, initiated: WallTime.seconds)
        return Self.xml(
            "<InitiateMultipartUploadResult><UploadId>id\(lastNumber)</UploadId></InitiateMultipartUploadResult>")
    }

    private func list(_ query: [Substring: String]) -> ServerModel.Answer {
        let prefix = "/bucket/" + (query["prefix"] ?? "")
        let found = uploads.filter { $0.value.key.hasPrefix(prefix) }.sorted { $0.key < $1.key }.map { id, upload in
            let time = Self.time(upload.initiated)
            return "<Upload><Key>\(upload.key.dropFirst("/bucket/".count))</Key><UploadId>\(id)</UploadId>"
                + "<Initiated>\(time)</Initiated></Upload>"
        }
        return Self.xml(
            "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>\(found.joined())</ListMultipartUploadsResult>"
        )
    }

    private func part(
        _ request: ServerModel.Request, _ path: String, _ id: String, _ number: Int?
    ) -> (ServerModel.Answer, Whole?) {
        guard var upload = uploads[id], upload.key == path else { return (Self.fault(404, "NoSuchUpload"), nil) }
        switch request.method {
        case "PUT":
            let part = Object(bytes: request.body, tag: Self.tag(request.body))
            upload.parts[number ?? 0] = part
            uploads[id] = upload
            return (Self.answer(200, [HeaderField("ETag", "\"\(part.tag)\"")]), nil)
        case "GET":
            let parts = upload.parts.sorted { $0.key < $1.key }.map { number, part in
                "<Part><PartNumber>\(number)</PartNumber><ETag>&quot;\(part.tag)&quot;</ETag>"
                    + "<Size>\(part.bytes.count)</Size></Part>"
            }
            return (
                Self.xml("<ListPartsResult><IsTruncated>false</IsTruncated>\(parts.joined())</ListPartsResult>"), nil
            )
        case "POST":
            let parts = upload.parts.sorted { $0.key < $1.key }
            let named = String(decoding: request.body, as: UTF8.self).split(separator: "<PartNumber>").dropFirst()
                .compactMap { Int($0.prefix { $0.isNumber }) }
            guard !parts.isEmpty, named == parts.map(\.key) else { return (Self.fault(400, "InvalidPart"), nil) }
            uploads[id] = nil
            let tags = parts.compactMap { Self.digest($0.value.bytes, .md5) }.flatMap { Self.bytes(ofHex: $0.hex) }
            let object = Object(bytes: parts.flatMap(\.value.bytes), tag: "\(Self.tag(tags))-\(parts.count)")
            objects[path] = object
            return (
                Self.xml(
                    "<CompleteMultipartUploadResult><ETag>\"\(object.tag)\"</ETag></CompleteMultipartUploadResult>"),
                (path, object.bytes)
            )
        case "DELETE":
            uploads[id] = nil
            return (Self.answer(204, []), nil)
        default: return (Self.fault(405, "MethodNotAllowed"), nil)
        }
    }

    // MARK: Answers

    private static func answer(_ status: Int, _ fields: [HeaderField]) -> ServerModel.Answer {
        ServerModel.Answer(
            status: status,
            fields: fields + [
                HeaderField("Date", HTTPDate.format(WallTime.seconds)), HeaderField("Content-Length", "0"),
            ])
    }

    private static func xml(_ text: String, status: Int = 200) -> ServerModel.Answer {
        let body = Array("<?xml version=\"1.0\"?>\(text)".utf8)
        let fields = [
            HeaderField("Content-Type", "application/xml"), HeaderField("Content-Length", "\(body.count)"),
            HeaderField("Date", HTTPDate.format(WallTime.seconds)),
        ]
        return ServerModel.Answer(status: status, fields: fields, body: body)
    }

    private static func fault(_ status: Int, _ code: String) -> ServerModel.Answer {
        xml("<Error><Code>\(code)</Code><Message>simulated</Message></Error>", status: status)
    }

    private static func digest(_ bytes: [UInt8], _ algorithm: DigestAlgorithm) -> Checksum? {
        guard let digest = try? Digest(algorithm) else { return nil }
        bytes.withUnsafeBytes { digest.update($0) }
        return try? digest.finish()
    }

    private static func tag(_ bytes: [UInt8]) -> String { digest(bytes, .md5)?.hex ?? "" }

    private static func bytes(ofHex hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private static func time(_ seconds: Int64) -> String {
        // An HTTP date has the same numbers: "Sun, 06 Nov 1994 08:49:37 GMT".
        let words = HTTPDate.format(seconds).split(separator: " ").map(String.init)
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let month = (months.firstIndex(of: words[2]) ?? 0) + 1
        return "\(words[3])-\(month < 10 ? "0" : "")\(month)-\(words[1])T\(words[4]).000Z"
    }
}
