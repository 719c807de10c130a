/// Finds jobs that wait for each other in a circle.
package enum DependencyCycle {
    /// - Parameter edges: For each job, what it needs.
    /// - Returns: One circle, in order, or `nil` when there is none.
    package static func find(_ edges: [Int64: [Int64]]) -> [Int64]? {
        var finished = Set<Int64>()
        for start in edges.keys.sorted() where !finished.contains(start) {
            // Depth first, without recursion: a chain may be as long as the file.
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
