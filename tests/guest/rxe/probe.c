// probe SCENARIO requester|responder GID_INDEX MTU HOST PORT
//
// One end of a reliable connection that does what no common tool does, through libibverbs. The ends are
// told over TCP in perftest's form. Prints what became of it.
#include <arpa/inet.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER = 8192, MESSAGE = 5000, END = 108 };

static struct ibv_context *device;
static struct ibv_cq *queue;
static struct ibv_qp *pair;
static unsigned char *buffer;
static int tcp;

static void need(int holds, const char *what) {
  if (!holds) {
    perror(what);
    exit(1);
  }
}

static void swap(const char *own, char *theirs) {
  need(write(tcp, own, END) == END, "write");
  for (int done = 0; done < END;) {
    ssize_t count = read(tcp, theirs + done, END - done);
    need(count > 0, "read");
    done += count;
  }
}

static void describe(const struct ibv_wc *done) {
  if (done->status != IBV_WC_SUCCESS) {
    printf("completion %s\n", ibv_wc_status_str(done->status));
  } else if (done->opcode & IBV_WC_RECV) {
    int equal = 1;
    for (int i = 0; i < MESSAGE; i++) {
      equal &= buffer[i] == (i * 7 & 0xff);
    }
    printf("received %u bytes, immediate %08x, data %s\n", done->byte_len,
           done->wc_flags & IBV_WC_WITH_IMM ? ntohl(done->imm_data) : 0, equal ? "equal" : "differ");
  } else {
    printf("completion success\n");
  }
}

static int completion(int milliseconds) {
  struct ibv_wc done;
  for (int i = 0; i < milliseconds; i++) {
    if (ibv_poll_cq(queue, 1, &done) == 1) {
      describe(&done);
      return 1;
    }
    usleep(1000);
  }
  return 0;
}

static void receive(uint32_t key, uint32_t length) {
  struct ibv_sge entry = {(uintptr_t)buffer, length, key};
  struct ibv_recv_wr work = {.sg_list = &entry, .num_sge = 1}, *bad;
  need(!ibv_post_recv(pair, &work, &bad), "post_recv");
}

int main(int count, char **arguments) {
  need(count == 7, "arguments");
  const char *scenario = arguments[1];
  int requester = !strcmp(arguments[2], "requester");
  int index = atoi(arguments[3]);
  int mtu = atoi(arguments[4]);
#define IS(name) (!strcmp(scenario, name))
  setvbuf(stdout, NULL, _IOLBF, 0);

  struct ibv_device **devices = ibv_get_device_list(NULL);
  need(devices && devices[0], "device");
  device = ibv_open_device(devices[0]);
  need(device != NULL, "open");
  struct ibv_pd *domain = ibv_alloc_pd(device);
  queue = ibv_create_cq(device, 16, NULL, NULL, 0);
  buffer = aligned_alloc(4096, BUFFER);
  int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  struct ibv_mr *region = ibv_reg_mr(domain, buffer, BUFFER, access);
  struct ibv_qp_init_attr kind = {
      .send_cq = queue,
      .recv_cq = queue,
      .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
      .qp_type = IBV_QPT_RC,
      .sq_sig_all = 1};
  pair = ibv_create_qp(domain, &kind);
  need(domain && queue && region && pair, "objects");
  memset(buffer, 0, BUFFER);

  union ibv_gid gid;
  need(!ibv_query_gid(device, 1, index, &gid), "gid");
  char own[END + 1] = "", theirs[END + 1] = "";
  int at = sprintf(own, "0000:%04x:%06x:%06x:%08x:%016llx:", 1, pair->qp_num, 0x123456, region->rkey,
                   (unsigned long long)(uintptr_t)buffer);
  for (int i = 0; i < 16; i++) {
    at += sprintf(own + at, "%02x:", gid.raw[i]);
  }
  sprintf(own + at, "00000000:");
  struct sockaddr_in host = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[6]))};
  inet_aton(arguments[5], &host.sin_addr);
  tcp = socket(AF_INET, SOCK_STREAM, 0);
  need(!connect(tcp, (struct sockaddr *)&host, sizeof host), "connect");
  swap(own, theirs);
  unsigned lid, reads, number, first, key;
  unsigned long long address;
  need(sscanf(theirs, "%x:%x:%x:%x:%x:%llx", &lid, &reads, &number, &first, &key, &address) == 6, "end");

  struct ibv_qp_attr state = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = access};
  need(!ibv_modify_qp(pair, &state, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
       "init");
  state.qp_state = IBV_QPS_RTR;
  state.path_mtu = mtu == 4096 ? IBV_MTU_4096 : IBV_MTU_1024;
  state.dest_qp_num = IS("gone") && requester ? number ^ 0x5555 : number;
  state.rq_psn = first;
  state.max_dest_rd_atomic = 1;
  state.min_rnr_timer = 12;
  state.ah_attr = (struct ibv_ah_attr){.is_global = 1, .port_num = 1};
  state.ah_attr.grh.sgid_index = index;
  state.ah_attr.grh.hop_limit = 64;
  for (int i = 0; i < 16; i++) {
    sscanf(theirs + 50 + 3 * i, "%2hhx", &state.ah_attr.grh.dgid.raw[i]);
  }
  need(!ibv_modify_qp(pair, &state,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
       "ready to receive");
  state.qp_state = IBV_QPS_RTS;
  state.sq_psn = 0x123456;
  state.timeout = 14;
  state.retry_cnt = IS("gone") ? 2 : 7;
  state.rnr_retry = IS("rnr_exhausted") ? 2 : 7;
  state.max_rd_atomic = 1;
  need(!ibv_modify_qp(pair, &state,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC),
       "ready to send");
  int unready = IS("rnr") || IS("rnr_exhausted");
  if (!requester && !unready) {
    receive(region->lkey, IS("too_long") ? 100 : BUFFER);
  }
  swap(own, theirs);

  if (requester) {
    for (int i = 0; i < BUFFER; i++) {
      buffer[i] = i * 7;
    }
    struct ibv_sge entry = {(uintptr_t)buffer, MESSAGE, region->lkey};
    struct ibv_send_wr work = {.sg_list = &entry, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
    work.wr.rdma.remote_addr = address;
    work.wr.rdma.rkey = key;
    if (IS("write_immediate")) {
      work.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
      work.imm_data = htonl(0x01020304);
    } else if (IS("bad_key")) {
      work.opcode = IBV_WR_RDMA_WRITE;
      work.wr.rdma.rkey = key ^ 0x5a00;
    }
    need(!ibv_post_send(pair, &work, &bad), "post_send");
    need(completion(20000), "completion");
    swap(own, theirs);
  } else {
    if (IS("rnr")) {
      usleep(300000);
      receive(region->lkey, BUFFER);
    }
    if (IS("rnr") || IS("write_immediate")) {
      need(completion(20000), "message");
    }
    swap(own, theirs);
  }

  completion(500);
  fcntl(device->async_fd, F_SETFL, O_NONBLOCK);
  struct ibv_async_event event;
  while (!ibv_get_async_event(device, &event)) {
    printf("event %s\n", ibv_event_type_str(event.event_type));
    ibv_ack_async_event(&event);
  }
  struct ibv_qp_init_attr unused;
  need(!ibv_query_qp(pair, &state, IBV_QP_STATE, &unused), "query");
  printf("state %s\n", state.qp_state == IBV_QPS_RTS ? "ready to send" : state.qp_state == IBV_QPS_ERR ? "error" : "other");
  return 0;
}
