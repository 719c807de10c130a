import Dispatch
public import Foundation
public import FoundationNetworking

// The values that closures of a request receive, as streams. Each stream has its own values, ends with the request, and
// replaces no closure. Awaiting a stream starts the request, as a response handler would.
extension Request {
    /// Returns a stream of the body's sent bytes: at most twenty values a second, and the last one.
    public func uploadProgress(
        bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
    ) -> StreamOf<Progress> {
        stream(bufferingPolicy) { buffer in
            observe { $0.uploadStreams.append(.init(queue: .awaiting) { buffer.yield($0) }) }
        }
    }

    /// Returns a stream of the response's received bytes: at most twenty values a second, and the last one.
    public func downloadProgress(
        bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
    ) -> StreamOf<Progress> {
        stream(bufferingPolicy) { buffer in
            observe { $0.downloadStreams.append(.init(queue: .awaiting) { buffer.yield($0) }) }
        }
    }

    /// Returns a stream of the URL request of each attempt, as it is sent.
    public func urlRequests(
        bufferingPolicy: StreamOf<URLRequest>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLRequest> {
        stream(bufferingPolicy) { buffer in
            let made = update { state in
                state.hooks.requestStreams.append(.init(queue: .awaiting) { buffer.yield($0) })
                return state.created
            }
            if let made { buffer.yield(made) }
        }
    }

    /// Returns a stream of the task of each attempt.
    public func urlSessionTasks(
        bufferingPolicy: StreamOf<URLSessionTask>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLSessionTask> {
        stream(bufferingPolicy) { buffer in
            let record = update { state in
                state.hooks.taskStreams.append(.init(queue: .awaiting) { buffer.yield($0) })
                return state.attempts.last
            }
            if let record { buffer.yield(record.task(of: self)) }
        }
    }

    /// Returns a stream of the cURL command of each attempt.
    public func cURLDescriptions(
        bufferingPolicy: StreamOf<String>.BufferingPolicy = .unbounded
    ) -> StreamOf<String> {
        stream(bufferingPolicy) { buffer in
            let made = update { state in
                state.hooks.requestStreams.append(
                    .init(queue: .awaiting) { [weak self] request in
                        if let self { buffer.yield(cURLDescription(of: request)) }
                    })
                return state.created
            }
            if let made { buffer.yield(cURLDescription(of: made)) }
        }
    }

    func stream<Element>(
        _ policy: StreamOf<Element>.BufferingPolicy, _ build: (StreamBuffer<Element>) -> Void
    ) -> StreamOf<Element> {
        // The stream keeps the request until its loop begins, as no other reference may keep it.
        StreamOf(bufferingPolicy: policy, onIteration: { [self] in startIfAutomatic() }) { buffer in
            build(buffer)
            onEnd { DispatchQueue.awaiting.async { buffer.finish() } }
        }
    }
}

extension RespondingRequest {
    func responses(_ policy: StreamOf<HTTPURLResponse>.BufferingPolicy) -> StreamOf<HTTPURLResponse> {
        stream(policy) { buffer in
            onResponse { $0.streams.append { response in DispatchQueue.awaiting.async { buffer.yield(response) } } }
        }
    }
}

extension DataRequest {
    /// Returns a stream of the head of each response.
    public func httpResponses(
        bufferingPolicy: StreamOf<HTTPURLResponse>.BufferingPolicy = .unbounded
    ) -> StreamOf<HTTPURLResponse> { responses(bufferingPolicy) }
}

extension DataStreamRequest {
    /// Returns a stream of the head of each response.
    public func httpResponses(
        bufferingPolicy: StreamOf<HTTPURLResponse>.BufferingPolicy = .unbounded
    ) -> StreamOf<HTTPURLResponse> { responses(bufferingPolicy) }
}
