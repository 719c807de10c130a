import Foundation
import FoundationNetworking
import RequestLoad

@main
enum RequestsURLSession {
    static func main() async throws {
        let load = RequestLoad()
        guard let url = URL(string: load.url) else { throw URLError(.badURL) }
        let configuration = URLSessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = load.concurrency
        // The other clients have no cache here either.
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration)
        await load.run("URLSession") {
            try await withCheckedThrowingContinuation { continuation in
                let task = session.dataTask(with: url) { data, response, error in
                    guard let data, (response as? HTTPURLResponse)?.statusCode == 200 else {
                        return continuation.resume(throwing: error ?? URLError(.badServerResponse))
                    }
                    continuation.resume(returning: data.count)
                }
                task.resume()
            }
        }
    }
}
