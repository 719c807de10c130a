import Foundation
import FoundationNetworking
import TransferCore

// Foundation's representation of a stored response.
extension CachedURLResponse {
    /// The key of the cache's own description in `userInfo`. Its value is JSON text, as Foundation writes only property
    /// lists to disk.
    fileprivate static let descriptionKey = "TransferKit"

    /// - Returns: `nil` for responses that Foundation cannot represent.
    convenience init?(_ stored: StoredResponse) {
        guard let response = HTTPURLResponse.make(stored.head(age: nil), url: stored.key, version: 0) else {
            return nil
        }
        let description = OwnDescription(key: stored.key, response: ResponseDescription(stored))
        let json = (try? JSONEncoder().encode(description)).map { String(decoding: $0, as: UTF8.self) }
        self.init(
            response: response, data: stored.body, userInfo: json.map { [Self.descriptionKey: $0] },
            storagePolicy: stored.isMemoryOnly ? .allowedInMemoryOnly : .allowed)
    }
}

private struct OwnDescription: Codable {
    var key: String
    var response: ResponseDescription
}

extension StoredResponse {
    /// Reads a response that this file stored in Foundation's form; `nil` for others.
    init?(own cached: CachedURLResponse) {
        guard let json = cached.userInfo?[CachedURLResponse.descriptionKey] as? String,
            let description = try? JSONDecoder().decode(OwnDescription.self, from: Data(json.utf8)),
            description.response.length == cached.data.count
        else { return nil }
        self = description.response.response(description.key, body: cached.data)
    }

    /// Makes a stored response of the one that a program gives as an answer to `request`; `nil` where its policy
    /// forbids that.
    init?(_ cached: CachedURLResponse, of request: CacheRequest, at now: Double) {
        guard cached.storagePolicy != .notAllowed, let response = cached.response as? HTTPURLResponse else {
            return nil
        }
        self.init(
            request, status: response.statusCode, fields: response.fields, body: cached.data, requestTime: now,
            responseTime: now)
        isMemoryOnly = cached.storagePolicy == .allowedInMemoryOnly
    }

    /// Returns this response as a handler changed it; `nil` where it must not be stored.
    ///
    /// - Parameter proposed: The representation that the handler received.
    func replaced(
        by cached: CachedURLResponse, proposed: CachedURLResponse, of request: CacheRequest
    ) -> StoredResponse? {
        guard cached.storagePolicy != .notAllowed else { return nil }
        var changed = self
        if cached.response !== proposed.response, let response = cached.response as? HTTPURLResponse {
            changed = StoredResponse(
                request, status: response.statusCode, fields: response.fields, requestTime: requestTime,
                responseTime: responseTime)
        }
        changed.body = cached.data
        changed.isMemoryOnly = cached.storagePolicy == .allowedInMemoryOnly
        return changed
    }
}

extension HTTPURLResponse {
    fileprivate var fields: [HeaderField] {
        allHeaderFields.compactMap { name, value in
            guard let name = name as? String else { return nil }
            return HeaderField(name, "\(value)")
        }.sorted { $0.name < $1.name }
    }
}

extension CacheRequest {
    /// Makes the request under which a program finds or stores a response.
    init?(stored request: URLRequest) {
        guard let url = request.url?.absoluteString, let key = CacheKey.of(url) else { return nil }
        let fields = (request.allHTTPHeaderFields ?? [:]).map { HeaderField($0.key, $0.value) }
        self.init(key: key, fields: fields, policy: .storedOnly)
    }
}
