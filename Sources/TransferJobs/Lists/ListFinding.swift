/// What the reader of another tool's list comes upon.
package enum ListFinding: Sendable {
    case job(ListDraft)
    /// An entry that is no job, or a line that can't be read.
    case fault(JobFileFault)
    /// An option that nothing here does, and without which the job is still the same.
    case leftOut(String, line: Int)
}

/// What becomes of an option of a list.
package enum ListVerdict: Sendable {
    case taken
    case leftOut
    /// It was taken but for what is named here.
    case takenWithout(String)
    /// Without it the job would be another one; why, and what to do instead.
    case refused(String)
}
