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
        // Each request has to reach the server: a cached answer would distort the measurement.
        configuration.urlCache = nil
        let session = Session(configuration: configuration)
        let url = load.url
        // The form that documents use. An answer other than 200 is detected by its length.
        await load.run("TransferKit") { try await session.request(url).serializingData().value.count }
    }
}
