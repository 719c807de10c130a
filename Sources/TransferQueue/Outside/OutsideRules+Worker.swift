import TransferCore
package import TransferJobs

extension OutsideRules {
    /// Returns a job within these bounds, for a worker that takes jobs which other machines have brought into the
    /// queue.
    ///
    /// - Throws: `invalidRequest` for a job that this machine refuses.
    package func accepted(_ spec: JobSpec) throws(TransferError) -> JobSpec {
        do {
            return try bounded(spec)
        } catch {
            let refusal = error as? Refusal
            let hint = refusal?.hint.map { " (\($0))" } ?? ""
            throw TransferError(.invalidRequest, "the worker refuses it: \(refusal?.message ?? "\(error)")\(hint)")
        }
    }
}
