import TransferCore
import TransferCrypto
import TransferQueueFixtures
import TransferTestServer

/// A server that stores the body of one request as a file, and returns it.
struct PlainStore: UploadService {
    private struct Arrival {
        var method: String
        var target: String
        var bytes: [UInt8] = []
    }

    private var arrivals: [Int: Arrival] = [:]
    private(set) var finished: [[UInt8]] = []
    /// The stored files by path; a POST leaves no file.
    private(set) var objects: [String: [UInt8]] = [:]

    mutating func begin(_ id: Int, method: String, target: String, headers: HeaderFields) -> UploadServiceStep {
        switch method {
        case "PUT", "POST":
            arrivals[id] = Arrival(method: method, target: target)
            return .read()
        case "HEAD", "GET":
            guard let bytes = objects[target] else { return .answer(Response(status: 404)) }
            return .answer(Response(body: .bytes(bytes)))
        default: return .answer(Response(status: 405))
        }
    }

    mutating func receive(_ id: Int, _ bytes: [UInt8]) -> [Response] {
        arrivals[id]?.bytes += bytes
        return []
    }

    mutating func end(_ id: Int, isWhole: Bool) -> Response {
        guard let arrival = arrivals.removeValue(forKey: id), isWhole else { return Response(status: 400) }
        finished.append(arrival.bytes)
        if arrival.method == "PUT" { objects[arrival.target] = arrival.bytes }
        return Response(status: 201)
    }
}

/// The part of S3 that uploads use, with the guarantee of its answers: tags that are digests.
struct ObjectStore: UploadService {
    private struct Arrival {
        var method: String
        var path: String
        var query: [String: String]
        var bytes: [UInt8] = []
    }

    private struct Part {
        var bytes: [UInt8]
        var etag: String
    }

    private var arrivals: [Int: Arrival] = [:]
    private var uploads: [String: [Int: Part]] = [:]
    private var last = 0
    private(set) var finished: [[UInt8]] = []
    private var objects: [String: Part] = [:]
    /// The number of multipart uploads that were begun and neither completed nor aborted.
    var open: Int { uploads.count }

    mutating func begin(_ id: Int, method: String, target: String, headers: HeaderFields) -> UploadServiceStep {
        let halves = target.split(separator: "?", maxSplits: 1)
        var query: [String: String] = [:]
        for pair in halves.dropFirst().first?.split(separator: "&") ?? [] {
            let words = pair.split(separator: "=", maxSplits: 1)
            query[String(words[0])] = words.count > 1 ? String(words[1]) : ""
        }
        let arrival = Arrival(method: method, path: String(halves.first ?? ""), query: query)
        if method == "PUT" || method == "POST" {
            arrivals[id] = arrival
            return .read()
        }
        return .answer(answer(arrival))
    }

    mutating func receive(_ id: Int, _ bytes: [UInt8]) -> [Response] {
        arrivals[id]?.bytes += bytes
        return []
    }

    mutating func end(_ id: Int, isWhole: Bool) -> Response {
        guard let arrival = arrivals.removeValue(forKey: id), isWhole else { return Response(status: 400) }
        return answer(arrival)
    }

    private mutating func answer(_ arrival: Arrival) -> Response {
        let upload = arrival.query["uploadId"]
        switch (arrival.method, upload) {
        case ("POST", nil) where arrival.query["uploads"] != nil:
            last += 1
            uploads["id\(last)"] = [:]
            return xml("InitiateMultipartUploadResult", "<UploadId>id\(last)</UploadId>")
        case ("PUT", nil):
            let part = Part(bytes: arrival.bytes, etag: tag(arrival.bytes))
            objects[arrival.path] = part
            finished.append(part.bytes)
            return Response(headers: ["ETag": part.etag])
        case ("HEAD", nil), ("GET", nil):
            guard arrival.query["uploads"] == nil else { return xml("ListMultipartUploadsResult", "") }
            guard let object = objects[arrival.path] else { return Response(status: 404) }
            return Response(headers: ["ETag": object.etag], body: .bytes(object.bytes))
        case (_, let id?): return multipart(arrival, id)
        default: return Response(status: 405)
        }
    }

    private mutating func multipart(_ arrival: Arrival, _ id: String) -> Response {
        guard let parts = uploads[id] else { return error(404, "NoSuchUpload") }
        switch arrival.method {
        case "PUT":
            let number = arrival.query["partNumber"].flatMap { Int($0) } ?? 0
            let part = Part(bytes: arrival.bytes, etag: tag(arrival.bytes))
            uploads[id]?[number] = part
            return Response(headers: ["ETag": part.etag])
        case "GET":
            let list = parts.sorted { $0.key < $1.key }.map { number, part in
                "<Part><PartNumber>\(number)</PartNumber><ETag>\(part.etag)</ETag><Size>\(part.bytes.count)</Size></Part>"
            }
            return xml("ListPartsResult", "<IsTruncated>false</IsTruncated>" + list.joined())
        case "POST":
            let numbers = parts.keys.sorted()
            let bytes = numbers.flatMap { parts[$0]?.bytes ?? [] }
            let digests = numbers.flatMap { digest(parts[$0]?.bytes ?? []) }
            let etag = tag(digests).dropLast() + "-\(numbers.count)\""
            objects[arrival.path] = Part(bytes: bytes, etag: String(etag))
            finished.append(bytes)
            uploads[id] = nil
            return xml("CompleteMultipartUploadResult", "<ETag>\(etag)</ETag>")
        default:
            uploads[id] = nil
            return Response(status: 204)
        }
    }

    private func digest(_ bytes: [UInt8]) -> [UInt8] { (try? Digest.of(bytes, .md5).bytes) ?? [] }

    private func tag(_ bytes: [UInt8]) -> String { "\"\((try? Digest.of(bytes, .md5).hex) ?? "")\"" }

    private func xml(_ name: String, _ members: String) -> Response {
        Response(body: .text("<\(name)>\(members)</\(name)>"))
    }

    private func error(_ status: Int, _ code: String) -> Response {
        Response(status: status, body: .text("<Error><Code>\(code)</Code></Error>"))
    }
}
