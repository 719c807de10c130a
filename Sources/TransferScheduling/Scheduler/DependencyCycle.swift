/// The search for jobs that wait for each other in a cycle.
package enum DependencyCycle {
    /// Finds a cycle.
    ///
    /// - Parameter edges: The jobs that each job needs.
    /// - Returns: One cycle, in order; `nil` if there is none.
    package static func find(_ edges: [Int64: [Int64]]) -> [Int64]? {
        var finished = Set<Int64>()
        for start in edges.keys.sorted() where !finished.contains(start) {
            // The search is depth-first without recursion, because a chain may be as long as the file.
            var path: [(job: Int64, next: Int)] = [(start, 0)]
            var onPath: [Int64: Int] = [start: 0]
            while let (job, next) = path.last {
                let needs = edges[job] ?? []
                guard next < needs.count else {
                    path.removeLast()
                    onPath[job] = nil
                    finished.insert(job)
                    continue
                }
                path[path.count - 1].next += 1
                let needed = needs[next]
                if let position = onPath[needed] { return path[position...].map(\.job) }
                if !finished.contains(needed) {
                    onPath[needed] = path.count
                    path.append((needed, 0))
                }
            }
        }
        return nil
    }
}
