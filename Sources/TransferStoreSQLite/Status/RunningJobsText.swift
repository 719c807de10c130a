/// The jobs of a batch that its run works on, as the text of the column `underWay`.
///
/// The numbers of jobs whose transfers are under way stand between blanks, so that `instr(underWay, ' 12 ')` finds one.
/// Behind them stand the bytes that each job of the run has now: ` 12 13 12:4096 13:0 14:77 `.
struct RunningJobsText {
    /// The bytes of each job that the run works on, by the number of the job.
    let bytes: [Int64: Int64]

    init(_ text: String) {
        var bytes: [Int64: Int64] = [:]
        for word in text.split(separator: " ") {
            let parts = word.split(separator: ":")
            guard parts.count == 2, let job = Int64(parts[0]), let count = Int64(parts[1]) else { continue }
            bytes[job] = count
        }
        self.bytes = bytes
    }

    static func text(underWay: [Int64], bytes: [Int64: Int64]) -> String {
        guard !underWay.isEmpty || !bytes.isEmpty else { return "" }
        let counts = bytes.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
        return " " + (underWay.map { "\($0)" } + counts).map { $0 + " " }.joined()
    }
}
