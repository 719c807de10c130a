import TransferCore
package import TransferJobs

/// The end of a job as its row has it: the only place where the event of an end is made from columns.
package enum StoredEnd {
    /// The columns that ``event(of:_:)`` reads, in the order of a row. The name of the batch precedes them.
    package static let columns: [JobColumn] = [
        .endNumber, .ended, .identity, .state, .isUpload, .path, .size, .transferred, .seconds, .digest, .validator,
        .finalURL, .status, .response, .attempts, .unproven, .lengthUnproven, .proofs, .sums, .sources, .errorCode,
        .errorMessage, .host, .notBefore, .spec,
    ]

    private static let places = Dictionary(uniqueKeysWithValues: zip(columns, 1...))

    /// Returns the number of a column in a row, counted from 0 for the name of the batch.
    package static func place(_ column: JobColumn) -> Int { places[column] ?? 0 }

    /// Returns the event of an end.
    ///
    /// - Parameters:
    ///   - batch: The name of the job's batch.
    ///   - value: A function that returns the row's value of a column.
    package static func event(of batch: String, _ value: (JobColumn) -> JobValue) -> QueueEvent {
        let job = value(.identity).text ?? ""
        let route = value(.spec).text.flatMap { try? JobSpec(canonicalJSON: $0) }.map { JobRoute($0) }
        let kind: QueueEvent.Kind =
            switch JobState(stored: Int(value(.state).number ?? 0)) {
            case .failed: .failed(failure(of: batch, job, route, value))
            case .skipped:
                .skipped(job: job, need: String((value(.errorMessage).text ?? "").dropFirst("needs ".count)))
            case .cancelled: .cancelled(job: job)
            default: .finished(receipt(of: batch, job, route, value))
            }
        return QueueEvent(
            time: value(.ended).number ?? 0, batch: batch, cursor: value(.endNumber).number, kind: kind, route: route)
    }

    private static func failure(
        of batch: String, _ job: String, _ route: JobRoute?, _ value: (JobColumn) -> JobValue
    ) -> JobFailure {
        let error = TransferError(
            TransferError.Code(rawValue: value(.errorCode).text ?? ""), value(.errorMessage).text ?? "",
            cause: value(.status).number.map { .http(status: Int($0)) })
        var failure = JobFailure(
            batch: batch, job: job, error: error, attempts: Int(value(.attempts).number ?? 0),
            host: value(.host).text, finalURL: value(.finalURL).text, route: route)
        failure.sources = [JobSource](text: value(.sources).text)
        if let again = value(.notBefore).number {
            failure.again = .milliseconds(max(0, again - (value(.ended).number ?? again)))
        }
        return failure
    }

    private static func receipt(
        of batch: String, _ job: String, _ route: JobRoute?, _ value: (JobColumn) -> JobValue
    ) -> JobReceipt {
        var receipt = JobReceipt(
            batch: batch, job: job, isUpload: value(.isUpload).isSet, bytes: value(.size).number ?? 0,
            transferred: value(.transferred).number ?? 0, seconds: value(.seconds).real ?? 0,
            digest: value(.digest).text.flatMap { Checksum($0) }, validator: value(.validator).text,
            finalURL: value(.finalURL).text ?? "", path: value(.path).text ?? "",
            status: Int(value(.status).number ?? 0), response: value(.response).text,
            attempts: Int(value(.attempts).number ?? 0), unproven: value(.unproven).number, route: route)
        receipt.sums = value(.sums).bytes.flatMap { PieceSumList(encoded: $0) }
        receipt.isLengthUnproven = value(.lengthUnproven).isSet
        receipt.proofs = [JobProof](text: value(.proofs).text)
        receipt.sources = [JobSource](text: value(.sources).text)
        return receipt
    }
}
