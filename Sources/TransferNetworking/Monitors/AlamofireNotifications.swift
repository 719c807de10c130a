public import Foundation
public import FoundationNetworking
import Synchronization

/// Posts what happens to requests as notifications, on the main queue.
///
/// Every session has one, unless it's given other monitors. It costs nothing until the program asks for the name of one
/// of the notifications (`Request.didResumeNotification` and the others), as who observes has to; requests that are
/// under way by then post what happens from there on.
public final class AlamofireNotifications: EventMonitor {
    public init() {}

    public func requestDidResume(_ request: Request) { post(.didResume, request) }
    public func requestDidSuspend(_ request: Request) { post(.didSuspend, request) }
    public func requestDidCancel(_ request: Request) { post(.didCancel, request) }
    public func requestDidFinish(_ request: Request) { post(.didFinish, request) }
    public func request(_ request: Request, didResumeTask task: URLSessionTask) { post(.didResumeTask, request) }
    public func request(_ request: Request, didSuspendTask task: URLSessionTask) { post(.didSuspendTask, request) }
    public func request(_ request: Request, didCancelTask task: URLSessionTask) { post(.didCancelTask, request) }
    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        post(.didCompleteTask, request)
    }

    private func post(_ kind: RequestNotifications, _ request: Request) {
        NotificationCenter.default.post(
            name: kind.name, object: nil, userInfo: [RequestNotifications.requestKey: request])
    }
}

/// The notifications of requests.
enum RequestNotifications: String {
    case didResume, didSuspend, didCancel, didFinish
    case didResumeTask, didSuspendTask, didCancelTask, didCompleteTask

    static let requestKey = "org.alamofire.notification.key.request"
    private static let observed = Atomic(false)

    /// Whether anybody may observe them: somebody has asked for a name.
    static var areObserved: Bool { observed.load(ordering: .relaxed) }

    var name: Notification.Name { Notification.Name("org.alamofire.notification.name.request.\(rawValue)") }

    /// The name, for somebody who is going to observe it.
    static func name(of kind: Self) -> Notification.Name {
        observed.store(true, ordering: .relaxed)
        return kind.name
    }
}

extension Request {
    /// Posted when a request was started, or goes on; the `request` property of the notification has it.
    public static var didResumeNotification: Notification.Name { RequestNotifications.name(of: .didResume) }
    /// Posted when a request was suspended.
    public static var didSuspendNotification: Notification.Name { RequestNotifications.name(of: .didSuspend) }
    /// Posted when a request was cancelled.
    public static var didCancelNotification: Notification.Name { RequestNotifications.name(of: .didCancel) }
    /// Posted when every handler of a request has its response.
    public static var didFinishNotification: Notification.Name { RequestNotifications.name(of: .didFinish) }
    /// Posted when a task of a request was started, or goes on.
    public static var didResumeTaskNotification: Notification.Name { RequestNotifications.name(of: .didResumeTask) }
    /// Posted when a task of a request was suspended.
    public static var didSuspendTaskNotification: Notification.Name { RequestNotifications.name(of: .didSuspendTask) }
    /// Posted when a task of a request was cancelled.
    public static var didCancelTaskNotification: Notification.Name { RequestNotifications.name(of: .didCancelTask) }
    /// Posted when a task of a request ended, well or not.
    public static var didCompleteTaskNotification: Notification.Name { RequestNotifications.name(of: .didCompleteTask) }
}

extension Notification {
    /// The request that a notification of ``AlamofireNotifications`` is about.
    public var request: Request? { userInfo?[RequestNotifications.requestKey] as? Request }
}
