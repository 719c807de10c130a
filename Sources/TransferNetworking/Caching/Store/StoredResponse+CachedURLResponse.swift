import Foundation
import FoundationNetworking
import TransferCore

// Foundation's form of a stored answer.
extension CachedURLResponse {
    /// Where our own description is kept: JSON, as what Foundation writes to disk must be property lists.
    fileprivate static let descriptionKey = "TransferKit"

    /// - Returns: `nil` for what Foundation can't represent.
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
    /// What was stored as our own; `nil` for anything else.
    init?(own cached: CachedURLResponse) {
        guard let json = cached.userInfo?[CachedURLResponse.descriptionKey] as? String,
            let description = try? JSONDecoder().decode(OwnDescription.self, from: Data(json.utf8)),
            description.response.length == cached.data.count
        else { return nil }
        self = description.response.response(description.key, body: cached.data)
    }

    /// What a program gives to be stored as an answer to `request`; `nil` where it doesn't allow that.
    init?(_ cached: CachedURLResponse, of request: CacheRequest, at now: Double) {
        guard cached.storagePolicy != .notAllowed, let response = cached.response as? HTTPURLResponse else {
            return nil
        }
        self.init(
            request, status: response.statusCode, fields: response.fields, body: cached.data, requestTime: now,
            responseTime: now)
        isMemoryOnly = cached.storagePolicy == .allowedInMemoryOnly
    }

    /// What a handler made of this answer; `nil` where it isn't to be stored.
    ///
    /// - Parameter proposed: What the handler was given for it.
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
    /// What a program looks for in a cache, or stores there.
    init?(stored request: URLRequest) {
        guard let url = request.url?.absoluteString, let key = CacheKey.of(url) else { return nil }
        let fields = (request.allHTTPHeaderFields ?? [:]).map { HeaderField($0.key, $0.value) }
        self.init(key: key, fields: fields, policy: .storedOnly)
    }
}
