import Glibc
import TransferQueue

/// The submission of downloads whose names other downloads may have.
extension AriaAdding {
    /// Submits a job under its own name or a numbered one, or begins an earlier job anew.
    ///
    /// - Returns: The number of the job.
    func place(_ spec: JobSpec, startsPaused: Bool) async throws -> Int64 {
        guard case .download(let download) = spec.work else { throw AriaError("No URI to download.") }
        if let known = try await entry(spec.identity) {
            // A gid is given again only once its result was removed, whatever file that had.
            let placement =
                spec.id == nil
                ? AriaPlacement(known.listed.state, download.ifExists, fileExists: try await fileExists(known)) : .again
            switch placement {
            case .again: return try await begin(known, anew: spec, startsPaused: startsPaused)
            case .number: break
            case .refuse:
                throw AriaError(
                    "\(download.expectedFile) is the file of GID#\(AriaGID.name(known)), and "
                        + "auto-file-renaming=false allows no other name")
            }
        } else if let number = try await add(spec, startsPaused) {
            return number
        }
        return try await addNumbered(spec, path: download.expectedFile, startsPaused)
    }

    private func addNumbered(_ spec: JobSpec, path: String, _ startsPaused: Bool) async throws -> Int64 {
        // Jobs with a gid of their client are named by it, so only a submission shows whether their file is taken.
        var number = try await names.number(path) { [isNamed = spec.id == nil] number in
            isNamed ? try await entry(AriaNames.path(path, number)) != nil : false
        }
        var step = 1
        for _ in 0..<Self.mostTries {
            let added = try await add(Self.renamed(spec, AriaNames.path(path, number)), startsPaused)
            names.take(path, number)
            if let added { return added }
            number += step
            step *= 2
        }
        throw AriaError("No file name is free.")
    }

    /// The maximum number of submissions for one download. The numbers grow with powers of two.
    private static let mostTries = 30

    private static func renamed(_ spec: JobSpec, _ path: String) -> JobSpec {
        guard case .download(var download) = spec.work else { return spec }
        download.destination = path
        var renamed = spec
        renamed.work = .download(download)
        return renamed
    }

    /// Returns the job with an identity; `nil` where there is none.
    private func entry(_ identity: String) async throws -> JobEntry? {
        var selection = JobSelection()
        selection.batch = AriaGID.batch
        selection.identity = identity
        selection.limit = 1
        return try await submissions.served.look { [selection] in try $0.jobs(selection).first }
    }

    private func fileExists(_ entry: JobEntry) async throws -> Bool {
        let path = downloads.status(of: entry).path
        return try await submissions.served.off { access(path, F_OK) == 0 }
    }

    /// Submits a job.
    ///
    /// - Returns: The number of the job; `nil` where the identity or the file is taken.
    private func add(_ spec: JobSpec, _ startsPaused: Bool) async throws -> Int64? {
        do {
            let taken = try await submissions.submit([spec], batch: AriaGID.batch, startsPaused: startsPaused)
            return taken.added == 1 ? taken.numbers.first : nil
        } catch let problem as Problem where problem.code == "conflict" || problem.code == "invalidJobs" {
            return nil
        }
    }

    private func begin(_ known: JobEntry, anew spec: JobSpec, startsPaused: Bool) async throws -> Int64 {
        var spec = spec
        // A complete job with the same fingerprint would stay complete.
        if known.listed.state == .done { spec.lasting = Int64.random(in: .min ... .max) }
        try await submissions.restage(spec, batch: AriaGID.batch, isPaused: startsPaused)
        downloads.view.restore(known.number)
        return known.number
    }
}
