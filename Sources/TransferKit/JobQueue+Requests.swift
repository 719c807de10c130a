public import TransferNetworking
public import TransferQueue

extension JobQueue {
    /// Hands a download of the request API to the queue, and returns when it's durable there.
    ///
    /// The request itself is not started; see ``/TransferJobs/JobSpec/init(_:id:)`` for what comes along.
    ///
    /// - Throws: `TransferError` when the request can't be a job, or the job can't be taken.
    @discardableResult
    public func submit(_ request: DownloadRequest, id: String? = nil, batch: String) async throws -> JobHandle {
        try await submit(JobSpec(request, id: id), batch: batch)
    }

    /// Hands an upload of a file to the queue, and returns when it's durable there.
    ///
    /// - Throws: `TransferError` when the request can't be a job, or the job can't be taken.
    @discardableResult
    public func submit(_ request: UploadRequest, id: String? = nil, batch: String) async throws -> JobHandle {
        try await submit(JobSpec(request, id: id), batch: batch)
    }
}
