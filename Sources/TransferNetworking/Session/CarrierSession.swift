import Foundation
import FoundationNetworking
import Synchronization

/// The value of ``Session/session``, which carries the configuration and lists the tasks of running requests.
final class CarrierSession: URLSession, @unchecked Sendable {  // Its one property is set once, before it is shared.
    private weak let owner: Session?

    /// - Parameter delegate: The value of `delegate`, which programs compare or cast; nothing calls it.
    init(configuration: URLSessionConfiguration, delegate: SessionDelegate, owner: Session?) {
        self.owner = owner
        super.init(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    private var running: [URLSessionTask] {
        (owner?.active.all ?? []).compactMap(\.task).filter { $0.state != .completed }
            .sorted { $0.taskIdentifier < $1.taskIdentifier }
    }

    override func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        let running = running
        delegateQueue.addOperation { completionHandler(running) }
    }

    override func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask])
            -> Void
    ) {
        let running = running
        let uploads = running.compactMap { $0 as? URLSessionUploadTask }
        let downloads = running.compactMap { $0 as? URLSessionDownloadTask }
        let data = running.filter { !($0 is URLSessionUploadTask) }.compactMap { $0 as? URLSessionDataTask }
        delegateQueue.addOperation { completionHandler(data, uploads, downloads) }
    }
}
