public import TransferNetworking
public import TransferQueue

extension JobQueue {
    /// Submits a download of the request API as a job, and returns when the job is durably stored.
    ///
    /// The request itself is not started. ``/TransferJobs/JobSpec/init(_:id:)`` documents the parts of the request that
    /// a job keeps.
    ///
    /// - Parameters:
    ///   - request: A download that was not started.
    ///   - id: The job's name in its batch; `nil` takes the destination.
    ///   - batch: The name of the batch.
    /// - Throws: `TransferError` when the request cannot become a job, or the queue does not accept it.
    @discardableResult
    public func submit(_ request: DownloadRequest, id: String? = nil, batch: String) async throws -> JobHandle {
        try await submit(JobSpec(request, id: id), batch: batch)
    }

    /// Submits an upload of a file as a job, and returns when the job is durably stored.
    ///
    /// - Parameters:
    ///   - request: An upload of a file that was not started.
    ///   - id: The job's name in its batch; `nil` takes the URL without secrets.
    ///   - batch: The name of the batch.
    /// - Throws: `TransferError` when the request cannot become a job, or the queue does not accept it.
    @discardableResult
    public func submit(_ request: UploadRequest, id: String? = nil, batch: String) async throws -> JobHandle {
        try await submit(JobSpec(request, id: id), batch: batch)
    }
}
