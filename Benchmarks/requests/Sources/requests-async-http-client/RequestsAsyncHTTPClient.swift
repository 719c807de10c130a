import AsyncHTTPClient
import RequestLoad

@main
enum RequestsAsyncHTTPClient {
    private struct UnexpectedStatus: Error { let code: UInt }

    static func main() async throws {
        let load = RequestLoad()
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = load.concurrency
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let url = load.url
        await load.run("AsyncHTTPClient") {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(30))
            guard response.status == .ok else { throw UnexpectedStatus(code: response.status.code) }
            return try await response.body.collect(upTo: 1 << 20).readableBytes
        }
        try await client.shutdown()
    }
}
