import Foundation
import FoundationNetworking

/// The client of a `URLProtocol`, which may call it on any thread.
final class ProtocolClient: NSObject, URLProtocolClient, @unchecked Sendable {  // Constants of Sendable types only.
    private weak let exchange: ProtocolExchange?
    private let number: Int

    /// - Parameter number: The number of the client's load.
    init(_ exchange: ProtocolExchange, number: Int) {
        self.exchange = exchange
        self.number = number
    }

    private func tell(_ event: ProtocolLoad.Event) { exchange?.receive(event, from: number) }

    func urlProtocol(
        _ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse
    ) { tell(.redirected(request, by: redirectResponse)) }

    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
        tell(.response(cachedResponse.response))
        if !cachedResponse.data.isEmpty { tell(.data(cachedResponse.data)) }
    }

    func urlProtocol(
        _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        if policy == .notAllowed { exchange?.forbidStoring() }
        tell(.response(response))
    }

    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) { tell(.data(data)) }

    func urlProtocolDidFinishLoading(_ protocol: URLProtocol) { tell(.finished) }

    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) {
        tell(.failed(URLError.named(error)))
    }

    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
        exchange?.challenged(challenge)
    }

    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {}
}
