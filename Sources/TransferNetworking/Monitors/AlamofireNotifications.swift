public import Foundation
public import FoundationNetworking
import Synchronization

/// A monitor that posts the events of requests as notifications, on the main queue.
///
/// Every session has such a monitor, unless it is given others. The monitor costs nothing until the program reads the
/// name of one of the notifications (such as `Request.didResumeNotification`), which an observer has to do. Requests
/// that are running at that moment post only their later events.
public final class AlamofireNotifications: EventMonitor {
    /// Creates a monitor.
    public init() {}

    /// Posts `Request.didResumeNotification`.
    public func requestDidResume(_ request: Request) { post(.didResume, request) }
    /// Posts `Request.didSuspendNotification`.
    public func requestDidSuspend(_ request: Request) { post(.didSuspend, request) }
    /// Posts `Request.didCancelNotification`.
    public func requestDidCancel(_ request: Request) { post(.didCancel, request) }
    /// Posts `Request.didFinishNotification`.
    public func requestDidFinish(_ request: Request) { post(.didFinish, request) }
    /// Posts `Request.didResumeTaskNotification`.
    public func request(_ request: Request, didResumeTask task: URLSessionTask) { post(.didResumeTask, request) }
    /// Posts `Request.didSuspendTaskNotification`.
    public func request(_ request: Request, didSuspendTask task: URLSessionTask) { post(.didSuspendTask, request) }
    /// Posts `Request.didCancelTaskNotification`.
    public func request(_ request: Request, didCancelTask task: URLSessionTask) { post(.didCancelTask, request) }
    /// Posts `Request.didCompleteTaskNotification`.
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

    /// Whether the notifications may have an observer, as the program has read a name.
    static var areObserved: Bool { observed.load(ordering: .relaxed) }

    var name: Notification.Name { Notification.Name("org.alamofire.notification.name.request.\(rawValue)") }

    /// Returns the name and notes that the program may observe it.
    static func name(of kind: Self) -> Notification.Name {
        observed.store(true, ordering: .relaxed)
        return kind.name
    }
}

extension Request {
    /// The name of the notification that a request was started or resumed. The notification's `request` property is the
    /// request.
    public static var didResumeNotification: Notification.Name { RequestNotifications.name(of: .didResume) }
    /// The name of the notification that a request was suspended.
    public static var didSuspendNotification: Notification.Name { RequestNotifications.name(of: .didSuspend) }
    /// The name of the notification that a request was cancelled.
    public static var didCancelNotification: Notification.Name { RequestNotifications.name(of: .didCancel) }
    /// The name of the notification that every handler of a request has its response.
    public static var didFinishNotification: Notification.Name { RequestNotifications.name(of: .didFinish) }
    /// The name of the notification that a task of a request was started or resumed.
    public static var didResumeTaskNotification: Notification.Name { RequestNotifications.name(of: .didResumeTask) }
    /// The name of the notification that a task of a request was suspended.
    public static var didSuspendTaskNotification: Notification.Name { RequestNotifications.name(of: .didSuspendTask) }
    /// The name of the notification that a task of a request was cancelled.
    public static var didCancelTaskNotification: Notification.Name { RequestNotifications.name(of: .didCancelTask) }
    /// The name of the notification that a task of a request ended, with success or failure.
    public static var didCompleteTaskNotification: Notification.Name { RequestNotifications.name(of: .didCompleteTask) }
}

extension Notification {
    /// The request of a notification that ``AlamofireNotifications`` posted.
    public var request: Request? { userInfo?[RequestNotifications.requestKey] as? Request }
}
