// SPDX-License-Identifier: Apache-2.0
//
// whole_way.cpp - from a network to its outputs in C++: read, coarsen, place
// with progress, check, emit, report, run with buffers of one's own, and a
// problem of one's own numbers.
//
//     c++ whole_way.cpp $(pkg-config --cflags --libs moirai) -o whole_way
//     ./whole_way model.onnx cluster.xml report.html
#include <moirai.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

// An error of the library as an exception.
void check(moirai_status status, const moirai_error &err)
{
    char text[2048];

    if (status != MOIRAI_OK)
        throw std::runtime_error(moirai_error_text(&err, text, sizeof text));
}

template <typename T, void (*Free)(T *)> struct Deleter {
    void operator()(T *handle) const
    {
        Free(handle);
    }
};
template <typename T, void (*Free)(T *)>
using Handle = std::unique_ptr<T, Deleter<T, Free>>;
using Options = Handle<moirai_options, moirai_options_free>;
using Graph = Handle<moirai_graph, moirai_graph_free>;
using Cluster = Handle<moirai_cluster, moirai_cluster_free>;
using Instance = Handle<moirai_instance, moirai_instance_free>;
using Placement = Handle<moirai_placement, moirai_placement_free>;
using Executor = Handle<moirai_executor, moirai_executor_free>;
using Builder = Handle<moirai_builder, moirai_builder_free>;

// Calls make(arguments..., &handle, &err) and wraps the handle.
template <typename H, typename F, typename... A> H make(F f, A... arguments)
{
    moirai_error err = {};
    typename H::pointer handle = nullptr;

    check(f(arguments..., &handle, &err), err);
    return H(handle);
}

int count_bytes(void *context, const char *, size_t size)
{
    *static_cast<size_t *>(context) += size;
    return 0;
}

int on_progress(void *context, int64_t, int64_t, double)
{
    ++*static_cast<int *>(context);
    return 0;
}

// Runs the network on ones; returns the bytes of its outputs.
size_t run(const moirai_placement *placement)
{
    Executor executor = make<Executor>(moirai_executor_open, placement,
                                       (const moirai_options *) nullptr);
    moirai_error err = {};
    std::vector<std::vector<char>> buffers;
    std::vector<const void *> inputs;
    std::vector<void *> outputs;
    moirai_tensor tensor;
    size_t bytes = 0;

    for (int i = 0; moirai_executor_input(executor.get(), i, &tensor) == 0;
         i++) {
        buffers.emplace_back(tensor.bytes);
        inputs.push_back(buffers.back().data());
        std::printf("input %s %s, %d dimensions\n", tensor.name, tensor.dtype,
                    tensor.rank);
    }
    for (int i = 0; moirai_executor_output(executor.get(), i, &tensor) == 0;
         i++) {
        buffers.emplace_back(tensor.bytes);
        outputs.push_back(buffers.back().data());
        bytes += tensor.bytes;
    }
    check(moirai_executor_run(executor.get(), inputs.data(), outputs.data(),
                              &err),
          err);
    return bytes;
}

// Two ops on two devices, with times and transfers of our own.
int64_t own_numbers()
{
    const char *ids[] = { "fast", "slow" };
    const double gbps[] = { 0, 8, 8, 0 };
    const char *names[] = { "a", "b" };
    const double us[2][2] = { { 10, 30 }, { 20, 25 } };
    moirai_error err = {};
    Builder builder = make<Builder>(moirai_builder_new);
    int op[2];

    for (int i = 0; i < 2; i++) {
        check(moirai_builder_op(builder.get(), names[i], nullptr, 1000, &op[i],
                                &err),
              err);
        for (int k = 0; k < 2; k++)
            check(moirai_builder_time(builder.get(), op[i], ids[k], us[i][k],
                                      &err),
                  err);
    }
    check(moirai_builder_edge(builder.get(), op[0], op[1], 4000, nullptr, &err),
          err);
    Graph graph = make<Graph>(moirai_builder_finish, builder.get(),
                              (const moirai_options *) nullptr);
    Cluster cluster =
        make<Cluster>(moirai_cluster_new, 2, ids, (const int64_t *) nullptr,
                      gbps, (const double *) nullptr);
    Instance instance = make<Instance>(
        moirai_instance_new, graph.get(), cluster.get(),
        (const moirai_profile *) nullptr, (const moirai_options *) nullptr);
    Placement placement = make<Placement>(moirai_place, instance.get(),
                                          (const moirai_options *) nullptr);

    return moirai_placement_makespan_ns(placement.get());
}

void whole_way(const char *model, const char *cluster_file, const char *report)
{
    moirai_error err = {};
    Options options = make<Options>(moirai_options_new);
    size_t bytes = 0;
    int calls = 0;

    check(moirai_options_set(options.get(), "time", "10", &err), err);
    moirai_options_on_progress(options.get(), on_progress, &calls);

    Graph fine = make<Graph>(moirai_graph_read, model, options.get());
    Cluster cluster = make<Cluster>(moirai_cluster_read, cluster_file);
    Graph graph = make<Graph>(moirai_graph_coarsen, fine.get(), cluster.get(),
                              options.get());
    Instance instance =
        make<Instance>(moirai_instance_new, graph.get(), cluster.get(),
                       (const moirai_profile *) nullptr, options.get());
    // What the instance needs stays.
    fine.reset();
    cluster.reset();
    std::printf("%d coarse ops on %d devices\n",
                moirai_graph_n_ops(graph.get()),
                moirai_instance_view(instance.get())->n_devices);

    Placement placement =
        make<Placement>(moirai_place, instance.get(), options.get());
    std::printf("%s, %d violations, gap %.0f %%, progress %s\n",
                moirai_placement_method(placement.get()),
                moirai_placement_n_violations(placement.get()),
                100 * moirai_placement_gap(placement.get()),
                calls > 0 ? "seen" : "not seen");
    check(moirai_emit(instance.get(), options.get(), nullptr, count_bytes,
                      &bytes, &err),
          err);
    std::printf("model %s\n", bytes > 1000 ? "written" : "missing");
    check(
        moirai_report(placement.get(), nullptr, report, nullptr, nullptr, &err),
        err);
    std::printf("%zu bytes of outputs\n", run(placement.get()));
}

} // namespace

int main(int argc, char **argv)
try {
    if (argc != 4)
        throw std::runtime_error("usage: whole_way MODEL CLUSTER REPORT");
    whole_way(argv[1], argv[2], argv[3]);
    std::printf("own numbers: %lld ns\n", (long long) own_numbers());
    return 0;
} catch (const std::exception &e) {
    std::fprintf(stderr, "whole_way: %s\n", e.what());
    return 1;
}
