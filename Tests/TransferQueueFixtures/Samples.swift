package import TransferCore
import TransferEngine
package import TransferJobs
package import TransferStore
package import TransferStoreSQLite
package import TransferTestSupport

package enum Sample {
    package static func download(
        _ url: String, to destination: String, id: String? = nil, needs: [String] = [], priority: Int = 0,
        checksum: Checksum? = nil, ifExists: JobSpec.IfExists = .verify, settings: JobSettings = Sample.quick
    ) -> JobSpec {
        JobSpec(
            id: id,
            work: .download(
                JobSpec.Download(urls: [url], destination: destination, checksum: checksum, ifExists: ifExists)),
            needs: needs, priority: priority, settings: settings)
    }

    package static func upload(
        _ source: String, to url: String, id: String? = nil, protocol uploadProtocol: JobSpec.UploadProtocol = .put,
        needs: [String] = []
    ) -> JobSpec {
        JobSpec(
            id: id, work: .upload(JobSpec.Upload(source: source, url: url, uploadProtocol: uploadProtocol)),
            needs: needs, settings: quick)
    }

    /// Settings with delays that are short enough for a test.
    package static var quick: JobSettings { retries(10) }

    package static func retries(_ limit: Int) -> JobSettings {
        var settings = JobSettings()
        settings.retry.limit = limit
        settings.retry.scale = .milliseconds(1)
        settings.retry.maxDelay = .milliseconds(5)
        return settings
    }

    package static func unreachable(retryAfter: Duration? = nil) -> TransferError {
        TransferError(
            .cannotConnect, "connection refused", isTransient: true, scope: .origin, retryAfter: retryAfter)
    }

    package static func busy(_ status: Int = 503, retryAfter: Duration? = nil) -> TransferError {
        TransferError(
            .httpStatus, "\(status)", cause: .http(status: status), isTransient: true, scope: .origin,
            retryAfter: retryAfter)
    }

    package static func receipt(_ batch: String, _ job: String, path: String = "/tmp/x", route: JobRoute? = nil)
        -> JobReceipt
    {
        JobReceipt(
            batch: batch, job: job, isUpload: false, bytes: 7, transferred: 7, seconds: 0.5, validator: "\"v1\"",
            finalURL: "http://h.example/x", path: path, status: 200, attempts: 1, route: route)
    }
}

extension MonotonicTime {
    package static func seconds(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }
}

/// A store in a folder of its own, with the operations that tests use most.
package final class StoreFixture {
    package let folder: TemporaryFolder
    package let state: StateFolder
    package let store: SQLiteStore

    package init() throws {
        folder = try TemporaryFolder("store")
        state = try StateFolder(folder.path("state"))
        store = try SQLiteStore(state)
    }

    package var raw: RawDatabase { RawDatabase(path: state.database) }

    @discardableResult
    package func stage(
        _ jobs: [JobSpec], name: String = "b", keepsWhatIsMissing: Bool = false, isReload: Bool = false,
        reserving: Int = 0, in store: SQLiteStore? = nil
    ) throws -> StagedJobs {
        let header = BatchHeader(name: name, source: nil, directory: "/")
        let options = StagingOptions(
            keepsWhatIsMissing: keepsWhatIsMissing, isReload: isReload, claiming: reserving)
        return try (store ?? self.store).stage(header, options) { stager in
            for job in jobs { try stager.add(job, at: nil) }
            return true
        }
    }

    /// Claims every ready job.
    package func claimAll(_ batch: Int64, in other: SQLiteStore? = nil) throws -> [JobRecord] {
        try (other ?? store).claimAll(batch)
    }

    @discardableResult
    package func end(_ record: JobRecord, _ outcome: JobEnd.Outcome) throws -> RecordedGroup {
        try store.end(record, outcome)
    }

    @discardableResult
    package func succeed(_ record: JobRecord) throws -> RecordedGroup { try store.succeed(record) }

    @discardableResult
    package func fail(_ record: JobRecord) throws -> RecordedGroup { try store.fail(record) }

    /// Returns the states by identity.
    package func states() throws -> [String: JobState] {
        // The transaction gives every job its row.
        try store.database.write { _ in }
        var states: [String: JobState] = [:]
        for row in try raw.run("SELECT identity, state FROM job") {
            states[row[0] ?? ""] = JobState(rawValue: Int(row[1] ?? "") ?? -1)
        }
        return states
    }

    /// Makes the process that opened `store` look dead, even after its number was given out again.
    package func kill(_ store: SQLiteStore) throws {
        store.database.locks.release(store.database.process)
        try raw.run("UPDATE process SET started = started - 1 WHERE id = \(store.database.process)")
    }
}

extension QueueEvent {
    package var end: (job: String, how: String)? {
        switch kind {
        case .finished(let receipt): (receipt.job, "done")
        case .kept(let receipt): (receipt.job, "kept")
        case .failed(let failure): (failure.job, "failed \(failure.error.code)")
        case .skipped(let job, let need): (job, "skipped \(need)")
        case .cancelled(let job): (job, "cancelled")
        case .dropped(let job): (job, "dropped")
        default: nil
        }
    }
}
