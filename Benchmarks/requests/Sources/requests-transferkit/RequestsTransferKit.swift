import Foundation
import FoundationNetworking
import RequestLoad
import TransferNetworking

@main
enum RequestsTransferKit {
    static func main() async {
        let load = RequestLoad()
        let configuration = URLSessionConfiguration.af.default
        configuration.httpMaximumConnectionsPerHost = load.concurrency
        // Each request has to reach the server: an answer out of the cache would measure something else.
        configuration.urlCache = nil
        let session = Session(configuration: configuration)
        let url = load.url
        // As documents write it; an answer other than 200 is noticed by its length.
        await load.run("TransferKit") { try await session.request(url).serializingData().value.count }
    }
}
