import HTTPTypes
import Hummingbird
import NIOCore
import TransferCore
import TransferQueue

extension Response {
    /// Returns a response that is one JSON object.
    static func json(
        _ status: HTTPResponse.Status = .ok, headers: HTTPFields = [:], _ build: (inout JSONWriter) -> Void
    ) -> Response {
        .json(status, headers: headers, bytes: JSONWriter.bytes(build))
    }

    static func json(
        _ status: HTTPResponse.Status = .ok, headers: HTTPFields = [:], bytes: [UInt8]
    ) -> Response {
        .plain(status, type: "application/json", headers: headers, bytes: bytes)
    }

    static func plain(
        _ status: HTTPResponse.Status = .ok, type: String, headers: HTTPFields = [:], bytes: [UInt8]
    ) -> Response {
        var headers = headers
        headers[.contentType] = type
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static var nothing: Response { Response(status: .noContent) }
}

extension Request {
    /// Returns the whole body.
    ///
    /// - Parameter limit: The maximum length in bytes.
    /// - Throws: A 413 for a longer body, which is not read.
    func bytes(upTo limit: Int) async throws -> [UInt8] {
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit { throw Self.tooLarge(limit) }
        do {
            return Array(buffer: try await body.collect(upTo: limit))
        } catch is NIOTooManyBytesError {
            throw Self.tooLarge(limit)
        }
    }

    /// Returns the whole body of a call that may contain its secret.
    ///
    /// - Parameters:
    ///   - limit: The maximum length in bytes.
    ///   - most: The maximum length of the body of an unknown client.
    ///   - isKnown: A closure that gets the first bytes of a longer body, and decides whether the rest is read.
    /// - Throws: A 413 for a longer body, which is not read.
    func bytes(
        upTo limit: Int, strangers most: Int, isKnown: ([UInt8]) async -> Bool
    ) async throws -> [UInt8] {
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit { throw Self.tooLarge(limit) }
        var (bytes, hasAsked): ([UInt8], Bool) = ([], false)
        for try await buffer in body {
            bytes += buffer.readableBytesView
            guard bytes.count <= limit else { throw Self.tooLarge(limit) }
            guard bytes.count > most, !hasAsked else { continue }
            hasAsked = true
            guard await isKnown(bytes) else {
                var problem = Self.tooLarge(most)
                problem.hint = "a longer call shows its secret in its first \(CountText.words(most, "byte"))"
                throw problem
            }
        }
        return bytes
    }

    private static func tooLarge(_ limit: Int) -> Problem {
        Problem(.contentTooLarge, "tooLarge", "the body has more than \(CountText.words(limit, "byte"))")
    }

    /// The content type of the body, without parameters.
    var mediaType: String? {
        headers[.contentType].map {
            $0.prefix { $0 != ";" }.split(separator: " ").joined().lowercased()
        }
    }

    /// Returns a parameter of the query, decoded.
    func query(_ name: String) -> String? { uri.queryParameters.get(name) }

    /// Returns an integer parameter of the query.
    ///
    /// - Throws: A 400 for another value, or one out of range.
    func query(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = query(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw Problem.malformed(
                "\(name) is a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
