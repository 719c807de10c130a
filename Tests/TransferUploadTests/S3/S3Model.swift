import TransferCore
import TransferCrypto

@testable import TransferUpload

/// A model of an S3 server with one bucket, without a network.
struct S3Model {
    struct Object {
        var bytes: [UInt8]
        var etag: String
        var checksum: String?
        var fields: [HeaderField]
    }

    private struct Upload {
        var key: String
        var fields: [HeaderField]
        var initiated: Int64
        var parts: [Int: Object] = [:]
    }

    struct Reply {
        var status: Int
        var fields: [HeaderField] = []
        var body = ""
    }

    /// Whether the joined object has the tag of an object from a single request, as with some servers.
    var givesTagsOfTheWhole = false
    var region = "us-east-1"
    /// The number of parts in a page of ListParts.
    var page = 3
    private(set) var objects: [String: Object] = [:]
    /// The number of times that an object was created.
    private(set) var writes = 0
    private var uploads: [String: Upload] = [:]
    private var lastUpload = 0

    /// The clock, in seconds since 1970.
    var clock: Int64 = 0
    /// Whether the right to list a bucket's uploads is missing.
    var refusesListing = false

    var openUploads: Int { uploads.count }

    mutating func expire() { uploads = [:] }

    mutating func takeAway(_ content: [UInt8]) { objects = objects.filter { $0.value.bytes != content } }

    mutating func reply(_ request: UploadRequest, _ body: [UInt8]) throws -> Reply {
        guard let authorization = request.headers.value("Authorization"), authorization.contains("/\(region)/s3/")
        else {
            return Self.fault(400, "AuthorizationHeaderMalformed", region: region)
        }
        let (path, query) = Self.split(request.url)
        if path == "/b", request.method == "GET", query["uploads"] != nil { return listing(query["prefix"] ?? "") }
        guard path.hasPrefix("/b/"), path.count > 3 else { return Self.fault(404, "NoSuchBucket") }
        let key = String(decoding: PercentEncoding.decode(path.dropFirst(3)), as: UTF8.self)
        if let refused = try Self.damage(request, body) { return refused }
        let uploadID = query["uploadId"]
        switch (request.method, uploadID) {
        case ("POST", nil) where query["uploads"] != nil:
            lastUpload += 1
            let id = "upload/+\(lastUpload)="
            uploads[id] = Upload(key: key, fields: request.headers, initiated: clock)
            return Reply(status: 200, body: S3Samples.created(id))
        case ("PUT", nil):
            objects[key] = try object(body, request.headers)
            writes += 1
            return Reply(status: 200, fields: try tags(key))
        case ("HEAD", nil), ("GET", nil):
            guard let object = objects[key] else { return Reply(status: 404) }
            return Reply(
                status: 200,
                fields: try tags(key) + object.fields + [HeaderField("Content-Length", "\(object.bytes.count)")])
        case (_, let id?):
            guard let upload = uploads[id], upload.key == key else { return Self.fault(404, "NoSuchUpload") }
            return try multipart(request, id, upload, query, body)
        default: return Self.fault(501, "NotImplemented")
        }
    }

    private func listing(_ prefix: String) -> Reply {
        if refusesListing { return Self.fault(403, "AccessDenied") }
        let elements = uploads.filter { $0.value.key.hasPrefix(prefix) }.sorted { $0.key < $1.key }.map { id, upload in
            S3Samples.upload(upload.key, id, upload.initiated)
        }
        return Reply(
            status: 200, fields: [HeaderField("Date", HTTPDate.format(clock))], body: S3Samples.uploads(elements))
    }

    private mutating func multipart(
        _ request: UploadRequest, _ id: String, _ upload: Upload, _ query: [String: String], _ body: [UInt8]
    ) throws -> Reply {
        switch request.method {
        case "PUT":
            guard let number = query["partNumber"].flatMap({ Int($0) }), (1...10_000).contains(number) else {
                return Self.fault(400, "InvalidArgument")
            }
            let part = try object(body, request.headers)
            uploads[id]?.parts[number] = part
            return Reply(status: 200, fields: [HeaderField("ETag", "\"\(part.etag)\"")])
        case "GET":
            let marker = query["part-number-marker"].flatMap { Int($0) } ?? 0
            let numbers = upload.parts.keys.sorted().filter { $0 > marker }
            let shown = numbers.prefix(page)
            var text = "<ListPartsResult><IsTruncated>\(shown.count < numbers.count)</IsTruncated>"
            if let last = shown.last { text += "<NextPartNumberMarker>\(last)</NextPartNumberMarker>" }
            for number in shown {
                guard let part = upload.parts[number] else { continue }
                text += "<Part><PartNumber>\(number)</PartNumber><ETag>&quot;\(part.etag)&quot;</ETag>"
                text += "<Size>\(part.bytes.count)</Size>"
                if let checksum = part.checksum { text += "<ChecksumSHA256>\(checksum)</ChecksumSHA256>" }
                text += "</Part>"
            }
            return Reply(status: 200, body: text + "</ListPartsResult>")
        case "DELETE":
            uploads[id] = nil
            return Reply(status: 204)
        case "POST": return try complete(id, upload, body)
        default: return Self.fault(405, "MethodNotAllowed")
        }
    }

    private mutating func complete(_ id: String, _ upload: Upload, _ body: [UInt8]) throws -> Reply {
        guard let root = XMLElement.read(body), root.isWhole, root.name == "CompleteMultipartUpload",
            !root.children.isEmpty
        else { return Self.fault(400, "MalformedXML") }
        var last = 0
        var bytes: [UInt8] = []
        var digests: [UInt8] = []
        let keepsChecksums = upload.fields.value("x-amz-checksum-algorithm") != nil
        for element in root.children {
            guard let number = element.text("PartNumber").flatMap({ Int($0) }), number > last else {
                return Self.fault(400, "InvalidPartOrder")
            }
            guard let part = upload.parts[number], element.text("ETag") == "\"\(part.etag)\"" else {
                return Self.fault(400, "InvalidPart")
            }
            guard !keepsChecksums || element.text("ChecksumSHA256") == part.checksum else {
                return Self.fault(400, "InvalidRequest")
            }
            last = number
            bytes += part.bytes
            digests += Hexadecimal.decode(part.etag) ?? []
        }
        var made = try object(bytes, upload.fields)
        made.checksum = nil
        if !givesTagsOfTheWhole { made.etag = "\(try Digest.of(digests, .md5).hex)-\(root.children.count)" }
        objects[upload.key] = made
        writes += 1
        uploads[id] = nil
        return Reply(
            status: 200,
            body: "  \n<CompleteMultipartUploadResult><ETag>&quot;\(made.etag)&quot;</ETag>"
                + "</CompleteMultipartUploadResult>")
    }

    private func tags(_ key: String) throws -> [HeaderField] {
        guard let object = objects[key] else { return [] }
        return [HeaderField("ETag", "\"\(object.etag)\"")]
            + (object.checksum.map { [HeaderField("x-amz-checksum-sha256", $0)] } ?? [])
    }

    private func object(_ bytes: [UInt8], _ fields: [HeaderField]) throws -> Object {
        Object(
            bytes: bytes, etag: try Digest.of(bytes, .md5).hex, checksum: fields.value("x-amz-checksum-sha256"),
            fields: fields.filter { $0.name.lowercased().hasPrefix("x-amz-meta-") || $0.isNamed("Content-Type") })
    }

    /// Returns the error if the digests in the fields contradict the body.
    private static func damage(_ request: UploadRequest, _ body: [UInt8]) throws -> Reply? {
        let digest = try Digest.of(body)
        guard let signed = request.headers.value("x-amz-content-sha256") else {
            return fault(400, "MissingSecurityHeader")
        }
        guard signed == "UNSIGNED-PAYLOAD" || signed == digest.hex else {
            return fault(400, "XAmzContentSHA256Mismatch")
        }
        if let checksum = request.headers.value("x-amz-checksum-sha256"), checksum != digest.base64 {
            return fault(400, "BadDigest")
        }
        if let md5 = request.headers.value("Content-MD5"), md5 != (try Digest.of(body, .md5).base64) {
            return fault(400, "BadDigest")
        }
        return nil
    }

    private static func fault(_ status: Int, _ code: String, region: String? = nil) -> Reply {
        Reply(status: status, body: S3Samples.error(code, region: region))
    }

    private static func split(_ url: String) -> (path: Substring, query: [String: String]) {
        let question = url.firstIndex(of: "?") ?? url.endIndex
        let path = url[..<question].dropFirst("https://".count).drop { $0 != "/" }
        var query: [String: String] = [:]
        for pair in url[question...].dropFirst().split(separator: "&") {
            let equals = pair.firstIndex(of: "=") ?? pair.endIndex
            query[String(pair[..<equals])] =
                String(decoding: PercentEncoding.decode(pair[equals...].dropFirst()), as: UTF8.self)
        }
        return (path, query)
    }
}
